"""A part of a page that is made when it is first seen."""

from __future__ import annotations

from PySide6.QtWidgets import QLabel, QTabWidget
from pytestqt.qtbot import QtBot

from swag_studio.ui.late import Late


def test_it_is_made_once_and_when_it_is_first_seen(qtbot: QtBot) -> None:
    made: list[QLabel] = []

    def make() -> QLabel:
        made.append(QLabel("here"))
        return made[-1]

    late, tabs = Late(make), QTabWidget()
    qtbot.addWidget(tabs)
    tabs.addTab(QLabel("first"), "First")
    tabs.addTab(late, "Second")
    tabs.show()
    assert not late.made
    tabs.setCurrentWidget(late)
    assert late.made and made[0].isVisible()
    tabs.setCurrentIndex(0)
    tabs.setCurrentWidget(late)
    assert late.content() is made[0] and len(made) == 1


def test_who_asks_for_it_gets_it_unseen(qtbot: QtBot) -> None:
    late = Late(lambda: QLabel("here"))
    qtbot.addWidget(late)
    assert late.content().text() == "here" and late.made


def test_the_newest_of_what_it_was_told_before_is_done(qtbot: QtBot) -> None:
    late = Late(lambda: QLabel("none"))
    qtbot.addWidget(late)
    said: list[str] = []
    for text in ("old", "new"):
        late.tell(lambda label, text=text: said.append(text) or label.setText(text))
    assert said == []
    assert late.content().text() == "new" and said == ["new"]
    late.tell(lambda label: label.setText("now"))
    assert late.content().text() == "now"


def test_a_hidden_part_asks_for_no_room(qtbot: QtBot) -> None:
    def wide() -> QLabel:
        label = QLabel()
        label.setMinimumSize(900, 700)
        return label

    late, tabs = Late(wide), QTabWidget()
    qtbot.addWidget(tabs)
    tabs.addTab(QLabel("first"), "First")
    tabs.addTab(late, "Second")
    tabs.show()
    tabs.setCurrentWidget(late)
    assert tabs.minimumSizeHint().width() >= 900
    tabs.setCurrentIndex(0)
    assert tabs.minimumSizeHint().width() < 900
