"""What the endings of an item follow: the first sentence and the opening of the second.

It always stands above the endings, as high as its texts, or as it may be. It knows of no answer.
"""

from __future__ import annotations

import re

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QFont
from PySide6.QtWidgets import QFrame, QLabel, QScrollArea, QVBoxLayout

from swag_studio.ui.page import bare
from swag_studio.ui.theme import ems

_PIECE = 12  # letters of a long word that are kept together
# An address, say: Qt breaks it nowhere by itself, as it does Chinese and Japanese.
_LONG = re.compile(rf"[!-\u02ff\u0370-\u058f]{{{2 * _PIECE},}}")
_BREAK = "\u200b"  # no width
_LEAST = 2  # lines of the first sentence that stand there, however little room there is
_RIGHT = 6  # between a text and the scroll bar
_BORDER = 1  # of the area around it, where the focus is shown
_STYLE = "ContextView { border: 0; border-bottom: 1px solid palette(mid); }"


class Text(QLabel):
    """A text that wraps. Its height follows from its width alone, so that none is given away."""

    def __init__(self, name: str = "") -> None:
        super().__init__()
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setWordWrap(True)
        self.setAccessibleName(name)

    def setText(self, text: str) -> None:
        super().setText(_LONG.sub(lambda word: _BREAK.join(_pieces(word[0])), text))

    def minimumSizeHint(self) -> QSize:
        return QSize(ems(self, 12), self.fontMetrics().lineSpacing())


class ContextView(QFrame):
    """A first sentence for which there is no room scrolls by itself, and Tab goes to it.

    The opening, with which each ending goes on, is always whole.
    """

    def __init__(self) -> None:
        super().__init__()
        self.setStyleSheet(_STYLE)
        self.sentence, self.opening = Text("First sentence"), Text("Opening of the second")
        self.sentence.setAlignment(Qt.AlignmentFlag.AlignTop)
        self.sentence.setContentsMargins(0, 0, _RIGHT, 0)
        self.opening.setContentsMargins(_BORDER, 0, _RIGHT, 0)
        self.area = QScrollArea()
        self.area.setWidgetResizable(True)
        self.area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.area.setAccessibleName("First sentence, which scrolls")
        bare(self.area, self.sentence)
        self._layout = QVBoxLayout(self)
        self._layout.setContentsMargins(0, 0, 0, 4)
        self._layout.setSpacing(2)
        self._layout.addWidget(self.area)
        self._layout.addWidget(self.opening)

    def show_texts(self, sentence: str, opening: str) -> None:
        """Another item's, from its beginning on."""
        self.sentence.setText(sentence)
        self.opening.setText(f"{opening} …")
        self.area.verticalScrollBar().setValue(0)

    def set_fonts(self, font: QFont) -> None:
        """The texts' font; the opening is bold in it."""
        self.sentence.setFont(font)
        bold = QFont(font)
        bold.setBold(True)
        self.opening.setFont(bold)

    def fit(self, most: int) -> None:
        """As high as its texts, or `most` pixels; then in whole lines, at least `_LEAST`."""
        inner = self._layout.contentsRect()
        wide = (inner.width() or self.width()) - 2 * _BORDER
        opening = self.opening.heightForWidth(inner.width())
        around = self.height() - inner.height() + self._layout.spacing() + 2 * _BORDER
        whole, line = self.sentence.heightForWidth(wide), self.sentence.fontMetrics().lineSpacing()
        lines = max(_LEAST, (most - opening - around) // line)
        height = min(whole, lines * line)
        scrolls = height < whole
        policy = Qt.FocusPolicy.TabFocus if scrolls else Qt.FocusPolicy.NoFocus
        self.area.setFocusPolicy(policy)
        self.area.setFixedHeight(height + 2 * _BORDER)
        self.setFixedHeight(opening + height + around)


def _pieces(word: str) -> list[str]:
    return [word[i : i + _PIECE] for i in range(0, len(word), _PIECE)]
