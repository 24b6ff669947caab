"""What a work packet that came back would bring, before it is brought in."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QLabel,
    QRadioButton,
    QVBoxLayout,
    QWidget,
)

from swag_studio.packet_exchange import Keep, Merge
from swag_studio.ui.page import set_role
from swag_studio.ui.theme import ems
from swag_studio.ui.words import count, does

KEEPS: tuple[tuple[Keep, str], ...] = (
    ("later", "the later of the two, each time"),
    ("project", "the one that is in the project"),
    ("packet", "the one that is in the packet"),
)


class MergeDialog(QDialog):
    """Emits `chosen` with which answer counts where packet and project disagree."""

    chosen = Signal(str)

    def __init__(self, name: str, merge: Merge, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Merge packet")
        layout = QVBoxLayout(self)
        layout.setSpacing(10)
        for text, role in (
            (f"{name}, by {merge.annotator}", "heading"),
            (told(merge), ""),
            *((f"⚠ {note}", "warn") for note in merge.notes),
        ):
            label = QLabel(text)
            label.setTextFormat(Qt.TextFormat.PlainText)
            label.setWordWrap(True)
            set_role(label, role)
            layout.addWidget(label)
        self.keeps: dict[Keep, QRadioButton] = {}
        if merge.conflicts:
            both = does(len(merge.conflicts), "task", "was", "were")
            words = QLabel(f"{both} answered in both places, differently. What counts is")
            words.setWordWrap(True)
            layout.addWidget(words)
            for keep, text in KEEPS:
                button = self.keeps[keep] = QRadioButton(text)
                layout.addWidget(button)
            self.keeps["later"].setChecked(True)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Cancel)
        self.bring = buttons.addButton("Merge", QDialogButtonBox.ButtonRole.AcceptRole)
        self.bring.setEnabled(bool(merge.new or merge.skips or merge.drafts or merge.conflicts))
        buttons.accepted.connect(self.accept)
        buttons.rejected.connect(self.reject)
        layout.addStretch(1)
        layout.addWidget(buttons)
        self.setMinimumWidth(ems(self, 60))

    def accept(self) -> None:
        super().accept()
        self.chosen.emit(next((k for k, b in self.keeps.items() if b.isChecked()), "later"))


def told(merge: Merge) -> str:
    """What a merge brings, in a sentence."""
    if not (merge.new or merge.skips or merge.drafts):
        return "All that is in it is in the project already."
    parts = [count(merge.answers, "new answer")]
    if merge.same:
        parts.append(f"{merge.same:,} that are here already")
    if merge.skips:
        parts.append(count(len(merge.skips), "skipped item"))
    if merge.drafts:
        parts.append(count(len(merge.drafts), "half-given answer"))
    return f"It brings {', '.join(parts)}."
