"""What single numbers give away before any filtering: a list of them all, and two drawn.

It shows distributions that were read elsewhere, and does no statistics.
"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtWidgets import QComboBox, QFrame, QHBoxLayout, QLabel, QVBoxLayout, QWidget

from swag_studio.ui.features import NATS, TOKENS, feature
from swag_studio.ui.histogram import Histogram
from swag_studio.ui.page import card, set_role
from swag_studio.ui.tables import Column, Table
from swag_studio.ui.theme import Theme
from swag_studio.ui.words import count
from swag_studio.views import Distribution

FIRST_SHOWN = ("v_tokens", "v_given_s_n_forward")

# From which share on a giveaway is called so.
_STRONG, _CLEAR = 0.65, 0.55
_ROWS_SEEN = 8  # all that a pool has: a giveaway is seen without scrolling


def tells(d: Distribution) -> bool:
    """Whether the number tells more than chance does: 50% is outside its 95% interval."""
    return abs(d.smaller - 0.5) > d.margin


def verdict(d: Distribution) -> str:
    """How much the number gives away, in a word and a mark."""
    if not tells(d):
        return "none"
    return "▲▲▲ strong" if d.told >= _STRONG else "▲▲ clear" if d.told >= _CLEAR else "▲ slight"


def sentence(d: Distribution) -> str:
    """What someone who knows only this number could tell."""
    f = feature(d.name)
    if f.shared:
        return "All endings of a context share this number: it gives nothing away."
    told = (
        "Knowing only this number, one would tell the found ending from a generated one "
        f"{d.told:.0%} of the time (50% = no giveaway)"
    )
    if not tells(d):
        return f"{told}, no more than by chance."
    small, large = {
        TOKENS: ("shorter", "longer"),
        NATS: ("less surprising", "more surprising"),
    }.get(f.unit, ("smaller", "larger"))
    return f"{told}: found endings tend to be {small if d.smaller > 0.5 else large}."


COLUMNS = (
    Column("Number", lambda d: feature(d.name).name, stretch=True),
    Column("What it is", lambda d: feature(d.name).definition, stretch=True),
    Column("Giveaway", verdict),
    Column(
        "Told apart",
        lambda d: d.told,
        lambda told: f"{told:.1%}",
        help="How often it tells the found ending from a candidate of the same context: the area "
        "under the ROC curve, as a mean over contexts. 50% is no giveaway",
    ),
    Column("±", lambda d: d.margin, lambda m: f"{m:.1%}", help="Half of the 95% interval"),
)


class FeaturePanel(QFrame):
    """One number, chosen from a list: its two distributions, and what they give away."""

    def __init__(self, name: str, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("card", "true")
        self._rows: dict[str, Distribution] = {}
        self._wanted = name
        self.chooser = QComboBox()
        self.chooser.setAccessibleName("Number that is drawn")
        self.chooser.setMinimumContentsLength(12)
        policy = QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon
        self.chooser.setSizeAdjustPolicy(policy)
        self.chooser.activated.connect(lambda _: self.choose(self.chooser.currentData()))
        self.words = QLabel("")
        self.words.setWordWrap(True)
        self.histogram = Histogram("Found and generated endings", ("found", "generated"), theme)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(10, 8, 10, 8)
        for widget in (self.chooser, self.words, self.histogram):
            layout.addWidget(widget, 1 if widget is self.histogram else 0)

    def show_rows(self, rows: Sequence[Distribution]) -> None:
        """Other distributions; the number that is drawn stays the same where it is there."""
        self._rows = {d.name: d for d in rows}
        self.chooser.clear()
        for d in rows:
            self.chooser.addItem(feature(d.name).name, d.name)
        if rows:
            self.choose(self._wanted if self._wanted in self._rows else rows[0].name)

    def choose(self, name: str) -> None:
        """Draws a number by its code."""
        self._wanted = name
        d, f = self._rows[name], feature(name)
        self.chooser.setCurrentIndex(self.chooser.findData(name))
        self.chooser.setToolTip(f.definition)
        self.words.setText(sentence(d))
        self.histogram.plot.setAccessibleDescription(sentence(d))
        self.histogram.show_values(
            d.found,
            d.generated,
            d.weights,
            label=f.unit or f.name,
            whole=f.unit == TOKENS,
            power="perplexity" if f.unit == NATS else "",
        )


class GiveawaysPanel(QWidget):
    """Every number by what it gives away, the worst first; a chosen row is drawn on the left."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.note = QLabel("")
        self.note.setWordWrap(True)
        set_role(self.note, "muted")
        self.table = Table("Numbers by what they give away", COLUMNS, most=_ROWS_SEEN)
        self.table.setToolTip("Choose a row to draw it on the left")
        self.table.chosen.connect(self._chosen)
        self.panels = tuple(FeaturePanel(name, theme) for name in FIRST_SHOWN)
        row = QHBoxLayout()
        row.setSpacing(8)
        for panel in self.panels:
            row.addWidget(panel, 1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(8)
        layout.addWidget(card(self.note, self.table))
        layout.addLayout(row, 1)

    def show_rows(self, rows: Sequence[Distribution]) -> None:
        """Shows the distributions of every feature, in the pool's order."""
        ordered = sorted(rows, key=lambda d: -d.told)
        self.table.set_rows(ordered)
        for panel in self.panels:
            panel.show_rows(rows)
        if rows:
            sampled = count(len(rows[0].found), "context")
            self.note.setText(
                f"Before any filtering, over {sampled} drawn from the pool and "
                f"{count(len(rows[0].generated), 'candidate')} of theirs that may be assigned. "
                "The worst giveaway stands first."
            )

    def _chosen(self, row: Distribution | None) -> None:
        if row is not None:
            self.panels[0].choose(row.name)
