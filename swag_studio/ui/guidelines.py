"""What annotators go by: the guidelines beside the items, their default text, and their editing.

The text is Markdown. Nothing that it names is loaded: no picture, no link, no HTML.
"""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QUrl, Signal
from PySide6.QtGui import QTextCursor, QTextDocument
from PySide6.QtWidgets import (
    QHBoxLayout,
    QLabel,
    QPlainTextEdit,
    QPushButton,
    QStackedWidget,
    QTextBrowser,
    QVBoxLayout,
    QWidget,
)

from swag_studio.ui.page import set_role

DEFAULT = """\
You see what happens first, the beginning of the next sentence, and six ways to go on. Picture the \
scene. Then judge **each ending for itself**, whatever the others say.

- **Likely** – it could well be what happens next.
- **Unlikely** – a proper sentence, but hardly what happens next here.
- **Gibberish** – no one would write it: words that do not fit together, or no sense at all.

Then mark the **best** ending and the **second best**: the two that most likely happen next. They \
may both be likely, or the least bad ones. Gibberish can be neither;
only where a single ending makes sense, call any other one second.

- Judge what happens, not the style. A small slip of grammar is not gibberish.
- Several endings may be likely, or none.
- Do not search for the “real” one: there may be several that are as good.
- A text that offends, or a beginning that makes no sense: skip the item and say why.

### Example 1

A girl kneels at the edge of a pool and takes a deep breath. **She …**

1. *dives into the water and swims to the other side.* – likely, **best**
2. *puts on her goggles.* – likely, **second best**: people do that first
3. *wipes the windows of the car.* – unlikely: a good sentence, another scene
4. *stands up and walks away from the pool.* – likely, though less so
5. *swims the and in front deep deep.* – gibberish
6. *plays the last song on the drums.* – unlikely

### Example 2

A cook cracks two eggs into a bowl. **He …**

1. *is throwing the javelin on the field.* – unlikely
2. *eggs a bowl the hits.* – gibberish
3. *continues to talk to the camera.* – likely, **second best**: cooks in videos do
4. *puts the bowl onto the horse.* – unlikely: proper words, an odd deed
5. *drops them onto the floor.* – unlikely, though it could happen
6. *beats them with a fork.* – likely, **best**
"""


class GuidelinesPanel(QWidget):
    """Shows the guidelines; where they may be edited, `changed` carries the new text."""

    changed = Signal(str)

    def __init__(self, text: str, may_edit: bool, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.text = text
        title = QLabel("Guidelines")
        set_role(title, "heading")
        self.view = _View()
        self.view.setAccessibleName("Guidelines")
        self.editor = QPlainTextEdit()
        self.editor.setAccessibleName("Text of the guidelines, in Markdown")
        self.stack = QStackedWidget()
        self.stack.addWidget(self.view)
        self.stack.addWidget(self.editor)
        self.edit, self.keep = QPushButton("Edit"), QPushButton("Keep")
        self.leave, self.default = QPushButton("Do not change"), QPushButton("Default text")
        self.edit.setVisible(may_edit)
        self.edit.clicked.connect(self.begin)
        self.keep.clicked.connect(self._keep)
        self.leave.clicked.connect(lambda: self.show_text(self.text))
        self.default.clicked.connect(lambda: self.editor.setPlainText(DEFAULT))
        top = QHBoxLayout()
        top.addWidget(title, 1)
        top.addWidget(self.edit)
        below = QHBoxLayout()
        for button in (self.default, self.leave, self.keep):
            below.addWidget(button)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addLayout(top)
        layout.addWidget(self.stack, 1)
        layout.addLayout(below)
        self._may_edit = may_edit
        self.show_text(text)

    def show_text(self, text: str) -> None:
        """Shows guidelines to be read."""
        self.text = text
        features = QTextDocument.MarkdownFeature
        self.view.document().setMarkdown(
            text, features.MarkdownDialectGitHub | features.MarkdownNoHTML
        )
        self.view.moveCursor(QTextCursor.MoveOperation.Start)
        self._editing(False)

    def begin(self) -> None:
        """Begins to edit."""
        self.editor.setPlainText(self.text)
        self._editing(True)
        self.editor.setFocus()

    def _keep(self) -> None:
        text = self.editor.toPlainText().strip() + "\n"
        self.show_text(text)
        self.changed.emit(text)

    def _editing(self, on: bool) -> None:
        self.stack.setCurrentWidget(self.editor if on else self.view)
        self.edit.setVisible(self._may_edit and not on)
        for button in (self.keep, self.leave, self.default):
            button.setVisible(on)


class _View(QTextBrowser):
    """Loads nothing, whatever the text names."""

    def __init__(self) -> None:
        super().__init__()
        self.setOpenLinks(False)
        self.setFrameShape(QTextBrowser.Shape.NoFrame)
        self.document().setIndentWidth(20)

    def loadResource(self, type: int, name: QUrl | str) -> Any:
        return None
