"""What is asked of a release: version, which questions, files, words on the card, overrides.

The form makes ReleaseOptions and says what is lacking; it reads nothing and starts nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QAbstractButton,
    QButtonGroup,
    QCheckBox,
    QLabel,
    QLineEdit,
    QPushButton,
    QRadioButton,
    QScrollArea,
    QSplitter,
    QVBoxLayout,
    QWidget,
)

from swag_studio.recipe import Recipe
from swag_studio.releases import (
    ReleaseError,
    ReleaseOptions,
    checked_language,
    checked_version,
)
from swag_studio.ui import release_readings as readings
from swag_studio.ui.flow import FlowLayout
from swag_studio.ui.forms import RecipeForm
from swag_studio.ui.page import STATE_MARKS, STATE_WORDS, prose, scrolled, set_role
from swag_studio.ui.release_panels import CheckPanel, OutlookPanel

ALWAYS = ("swag_csv", "swag_full")


class OptionsPanel(QWidget):
    """What is asked of a release. `changed` tells `True` when other questions may come of it."""

    changed = Signal(bool)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.taken: set[str] = set()
        self._proposed = ""
        self.formats: dict[str, QCheckBox] = {}
        self.overrides: dict[str, QCheckBox] = {}
        self.version, self.title = self._line("Version"), self._line("Title")
        self.licence, self.language = self._line("Licence of the sources"), self._line("Language")
        self.reason = self._line("Why it is released with these errors")
        self.title.setPlaceholderText("What the dataset is called")
        self.licence.setPlaceholderText("cc-by-4.0, or in words")
        self.language.setText("en")
        self.fault = prose("bad")
        self.column = QVBoxLayout(self)
        self.column.setContentsMargins(0, 0, 6, 0)
        self.column.setSpacing(4)
        self._build()

    def _build(self) -> None:
        self._field(self.version, "A release is never changed or overwritten: each has a version "
                    "of its own, and a correction is a new one.")  # fmt: skip
        self.blocked = QWidget()  # above what is seldom changed: who checked comes here next
        self.blocks = QVBoxLayout(self.blocked)
        self.blocks.setContentsMargins(0, 0, 0, 0)
        self.blocked.hide()
        for widget in (self.fault, self.blocked):
            self.column.addWidget(widget)
        self._heading("Which questions")
        self.verified = QRadioButton("Verified ones only")
        self.unverified = QRadioButton("Unverified contexts too")
        self.verified.setChecked(True)
        kinds = QButtonGroup(self)
        for button in (self.verified, self.unverified):
            kinds.addButton(button)
        self._choice(self.verified, "People judged the endings, and put the found one on top.")
        self._choice(self.unverified, "For trying things out: adds contexts that nobody judged, "
                     "with wrong endings that may be right. Each is marked, and so is the "
                     "release.")  # fmt: skip
        self.simulated = QCheckBox("Count simulated annotators")
        self._choice(self.simulated, "Their answers verify like people's. The release says so.")
        for box in (self.unverified, self.simulated):
            box.toggled.connect(lambda _: self.changed.emit(True))
        self._heading("Files")
        self.files = QVBoxLayout()
        self.files.setSpacing(4)
        self.column.addLayout(self.files)
        self._heading("On the card")
        for line in (self.title, self.licence, self.language):
            self._field(line)
        self.column.addStretch(1)
        for line in (self.version, self.title, self.licence, self.language, self.reason):
            line.textChanged.connect(lambda _: self._edited())

    # --- showing -----------------------------------------------------------------------------

    def propose(self, version: str, taken: set[str]) -> None:
        """The version that is free; one that was typed stays."""
        self.taken = taken
        typed = self.version.text()
        if typed == self._proposed or not (typed or self.version.isModified()):
            self.version.setText(version)  # else someone has begun to type another one
        self._proposed = version
        self._edited()

    def set_formats(self, formats: Mapping[str, str]) -> None:
        """Every format, with the package that it lacks here. All that can be are chosen."""
        for name, missing in formats.items():
            title, help = readings.FORMATS.get(name, (name, ""))
            box = self.formats[name] = QCheckBox(title)
            always = name in ALWAYS
            box.setChecked(not missing)
            box.setEnabled(not always and not missing)
            if missing:
                help = f"Needs the package {missing}, which is not installed. {help}"
            self._choice(box, f"Always. {help}" if always else help, self.files)
            box.toggled.connect(lambda _: self.changed.emit(False))

    def show_errors(self, problems: Sequence[Mapping[str, Any]]) -> None:
        """The errors that block, each to be overridden in the open; those ticked stay ticked."""
        ticked = {kind for kind, box in self.overrides.items() if box.isChecked()}
        while item := self.blocks.takeAt(0):
            widget = item.widget()
            if widget is not None and widget is not self.reason:
                widget.hide()  # until the event loop deletes it
                widget.deleteLater()
        self.overrides = {}
        errors = [p for p in problems if p["level"] == "error"]
        if errors:
            self._heading("Release in spite of errors", self.blocks)
        for problem in errors:
            box = self.overrides[problem["kind"]] = QCheckBox(
                f"✗ {problem['kind'].replace('_', ' ')} ({problem['count']:,})"
            )
            box.setChecked(problem["kind"] in ticked)
            box.toggled.connect(lambda _: self.changed.emit(False))
            self._choice(box, problem["sentence"], self.blocks)
        if errors:
            self._field(self.reason, "Stands on the card and in the manifest.", self.blocks)
        self.blocked.setVisible(bool(errors))

    # --- what is asked ------------------------------------------------------------------------

    @property
    def options(self) -> ReleaseOptions:
        """As it stands, also while someone types."""
        chosen = tuple(name for name, box in self.formats.items() if box.isChecked())
        overrides = tuple(sorted(kind for kind, box in self.overrides.items() if box.isChecked()))
        return ReleaseOptions(
            version=self.version.text().strip(),
            unverified=self.unverified.isChecked(),
            include_simulated=self.simulated.isChecked(),
            overrides=overrides,
            formats=chosen,
            title=" ".join(self.title.text().split()),
            licence=" ".join(self.licence.text().split()),
            language=self.language.text().strip(),
            override_reason=" ".join(self.reason.text().split()) if overrides else "",
        )

    @property
    def missing(self) -> str:
        """What is lacking before it can be written, in a sentence; "" if nothing is."""
        if self.fault.text():
            return "Choose another version."
        if left := [kind for kind, box in self.overrides.items() if not box.isChecked()]:
            kinds = ", ".join(kind.replace("_", " ") for kind in left)
            return f"Errors block it: {kinds}. Mend them in Review, or override them."
        if self.overrides and not self.reason.text().strip():
            return "Say why it is released with these errors."
        try:
            checked_language(self.language.text())
        except ReleaseError as error:
            return str(error)
        return ""

    # --- within ------------------------------------------------------------------------------

    def _edited(self) -> None:
        self.fault.setText(self._fault_of(self.version.text().strip()))
        self.fault.setVisible(bool(self.fault.text()))
        self.changed.emit(False)

    def _fault_of(self, version: str) -> str:
        try:
            checked_version(version)
        except ReleaseError as error:
            return f"⚠ {error}" if version else "⚠ A release needs a version, such as 1.0.0."
        if version in self.taken:
            return f"⚠ {version} is there already, and a release is never changed."
        return ""

    def _line(self, name: str) -> QLineEdit:
        line = QLineEdit()
        line.setAccessibleName(name)
        line.setMinimumWidth(80)
        return line

    def _heading(self, text: str, column: QVBoxLayout | None = None) -> None:
        label = prose("strong", text)
        label.setContentsMargins(0, 8, 0, 0)
        (column or self.column).addWidget(label)

    def _choice(
        self, button: QAbstractButton, help: str, column: QVBoxLayout | None = None
    ) -> None:
        """A button with a line of help under its words."""
        line = prose("muted", help)
        line.setContentsMargins(24, 0, 0, 4)
        button.setAccessibleDescription(help)
        for widget in (button, line):
            (column or self.column).addWidget(widget)

    def _field(self, line: QLineEdit, help: str = "", column: QVBoxLayout | None = None) -> None:
        """A label, its line, and a line of help."""
        column = column or self.column
        label = QLabel(line.accessibleName())
        label.setWordWrap(True)
        label.setBuddy(line)
        set_role(label, "strong" if line is self.version else "")
        column.addWidget(label)
        column.addWidget(line)
        if help:
            line.setAccessibleDescription(help)
            column.addWidget(prose("muted", help))


class DraftPanel(QWidget):
    """The draft of the pipeline's last stage: setting, state, and a button that makes it."""

    def __init__(self, recipe: Recipe, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.told = prose("muted")
        self.recipe = RecipeForm("release", recipe)
        self.button = QPushButton("Make draft")
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 12, 0, 0)
        for widget in (prose("strong", "Draft"), self.told, self.recipe, self.button):
            layout.addWidget(widget)

    def show_state(self, state: str) -> None:
        """Where the stage stands: one of STATE_WORDS."""
        self.told.setText(
            "All contexts with endings that nobody has checked, to try out what comes after. It is "
            "always of the present recipe, and has no version. "
            f"{STATE_MARKS[state]} {STATE_WORDS[state].capitalize()}."
        )
        self.button.setEnabled(state not in ("done", "running"))


class NextRelease(QSplitter):
    """What would be in it and what the checks found, beside what is asked of it and the buttons."""

    def __init__(self, recipe: Recipe, parent: QWidget | None = None) -> None:
        super().__init__(Qt.Orientation.Horizontal, parent)
        self.setChildrenCollapsible(False)
        self.setHandleWidth(8)
        self.counts, self.checks, self.form = OutlookPanel(), CheckPanel(), OptionsPanel()
        self.draft = DraftPanel(recipe)
        self.form.column.insertWidget(self.form.column.count() - 1, self.draft)
        self.check, self.write = QPushButton("Check"), QPushButton("Write release")
        self.lacking = prose("muted")
        left = QWidget()
        lines = QVBoxLayout(left)
        lines.setContentsMargins(0, 0, 0, 0)
        lines.addWidget(self.counts)
        lines.addWidget(self.checks, 1)
        area = QScrollArea()
        area.setWidgetResizable(True)
        area.setAccessibleName("In a release now, and checks")
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        area.setWidget(left)
        side = scrolled(self.form, "The next release")
        column = side.layout()
        assert isinstance(column, QVBoxLayout)
        column.addWidget(self.lacking)
        buttons = FlowLayout(spacing=6)
        for button in (self.check, self.write):
            buttons.addWidget(button)
        column.addLayout(buttons)
        self.addWidget(area)
        self.addWidget(side)
        self.setSizes([720, 440])

    def show_state(self, ready: bool, lacking: str) -> None:
        """Whether anything can be started, and what is lacking before it is written."""
        self.check.setEnabled(ready)
        self.write.setText(f"Write release {self.form.options.version}".rstrip())
        self.write.setEnabled(ready and not lacking)
        self.lacking.setText(lacking)
        self.lacking.setVisible(bool(lacking))
