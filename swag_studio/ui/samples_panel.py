"""What each fold's language model writes for held-out contexts, beside the found endings.

It knows the samples of a folder, not how training comes by them.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QSize, Qt
from PySide6.QtWidgets import (
    QComboBox,
    QFrame,
    QHBoxLayout,
    QLabel,
    QStyledItemDelegate,
    QVBoxLayout,
    QWidget,
)

from swag_studio import samples
from swag_studio.errors import ProjectError
from swag_studio.samples import FoldSamples, Sample
from swag_studio.ui.page import prose, set_role
from swag_studio.ui.tables import Column, Table

PERPLEXITY = (
    "Perplexity: among how many equally likely words the model hesitates at each next word, on "
    "average; lower is better."
)
_EMPTY = (
    "After each epoch that makes a model better, what it writes for a few contexts that it never "
    "saw appears here beside the found endings."
)


def sampled(sample: Sample) -> str:
    """The sampled ending; one that was cut off ends in an ellipsis."""
    return sample.sampled if sample.complete else f"{sample.sampled}\u00a0…"


COLUMNS = (
    Column(
        "Context",
        lambda s: f"{s.sent1} {s.sent2}\u00a0…",
        help="The first sentence, and how the second one begins",
        stretch=True,
    ),
    Column("Found ending", lambda s: s.found, stretch=True),
    Column(
        "Sampled ending",
        sampled,
        help="Drawn word by word; “…” at its end: cut off at the longest that is allowed",
        stretch=True,
    ),
)


class SamplesPanel(QFrame):
    """A fold to choose, what its samples are of, and the samples in an order that never changes.

    It follows the fold in training until someone chooses one.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("card", "true")
        self._folder: Path | None = None
        self._figures: dict[int, Mapping[str, Any]] = {}
        self._follows = True
        heading = QLabel("What the models write")
        set_role(heading, "heading")
        self.folds = QComboBox()
        self.folds.setAccessibleName("Fold")
        self.folds.setToolTip("The model of each fold never sees the captions of that fold")
        self.folds.activated.connect(self._chosen)
        self.caption = prose()
        self.caption.setToolTip(PERPLEXITY)
        self.table = _Wrapped("Found and sampled endings", COLUMNS, _EMPTY)
        top = QHBoxLayout()
        top.addWidget(heading)
        top.addStretch(1)
        top.addWidget(self.folds)
        layout = QVBoxLayout(self)
        layout.addLayout(top)
        layout.addWidget(self.caption)
        layout.addWidget(self.table, 1)
        self.show_models(None, {})

    def show_models(self, folder: Path | None, summary: Mapping[str, Any]) -> None:
        """Shows what the models of a version write by now; their figures once they are done."""
        if folder != self._folder:
            self._folder, self._follows = folder, True
        self._figures = {int(f["fold"]): f for f in summary.get("folds", ())}
        folds = samples.folds(folder) if folder else []
        chosen = self.folds.currentData()
        if chosen not in folds or self._follows:
            chosen = folds[0 if self._figures else -1] if folds else None
        if folds != [self.folds.itemData(i) for i in range(self.folds.count())]:
            self.folds.clear()
            for fold in folds:
                self.folds.addItem(f"Fold {fold}", fold)
        self.folds.setVisible(len(folds) > 1)
        self.folds.setCurrentIndex(self.folds.findData(chosen))
        self._show(chosen)

    def _chosen(self) -> None:
        self._follows = False
        self._show(self.folds.currentData())

    def _show(self, fold: int | None) -> None:
        made, words = None, ""
        if self._folder is not None and fold is not None:
            try:
                made = samples.read(self._folder, fold)
            except ProjectError as error:
                words = str(error)
        if made is not None:
            words = caption_of(made, self._figures.get(made.fold))
        elif self._figures and not words:
            words = "These models were trained before samples were kept."
        self.caption.setText(words)
        self.caption.setVisible(bool(words))
        rows = list(made.samples) if made else []
        if rows != self.table.rows_model.rows:
            at = self.table.verticalScrollBar().value()
            self.table.set_rows(rows)
            self.table.verticalScrollBar().setValue(at)


def caption_of(made: FoldSamples, figures: Mapping[str, Any] | None) -> str:
    """What the samples of a fold are of, and how good its finished model is."""
    how = made.sampling
    drawn = [f"temperature {how.temperature:g}"]
    drawn += [f"top-k {how.top_k}"] if how.top_k else []
    drawn += [f"top-p {how.top_p:g}"] if how.top_p < 1 else []
    text = (
        f"Fold {made.fold}, after epoch {made.epoch}, perplexity {made.perplexity:.1f}; drawn with "
        f"{', '.join(drawn)}. The model is never trained on the documents of these contexts"
    )
    if figures is None:
        return text + "."
    held_out = figures["held_out_perplexity"]
    return (
        f"{text}; on all their captions its perplexity is {held_out['forward']:.1f} forward and "
        f"{held_out['backward']:.1f} backward."
    )


class _Wrapped(Table):
    """A table whose texts go over several lines, in the order given."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.setSortingEnabled(False)
        self.setWordWrap(True)
        self.setProperty("line", "several")
        self.setTextElideMode(Qt.TextElideMode.ElideNone)
        self.setVerticalScrollMode(self.ScrollMode.ScrollPerPixel)
        self.setItemDelegate(_Top(self))

    def _stretch(self) -> None:
        super()._stretch()
        self.resizeRowsToContents()


class _Top(QStyledItemDelegate):
    """Texts begin at the top of their cells, so that they can be read beside each other."""

    def initStyleOption(self, option: Any, index: QModelIndex | QPersistentModelIndex) -> None:
        super().initStyleOption(option, index)
        option.displayAlignment = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop

    def sizeHint(self, option: Any, index: QModelIndex | QPersistentModelIndex) -> QSize:
        return super().sizeHint(option, index) + QSize(0, option.fontMetrics.height() // 2)
