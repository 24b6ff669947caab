"""Colours, text size and style of the window, light and dark. No widget is made here.

Series are told apart by colour, dash and mark together, so that none rests on colour alone. The
series colours are Okabe and Ito's, darkened or lightened until they reach 3:1 (graphics) on the
background they are drawn on; text colours reach 4.5:1.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QFontMetrics, QIcon, QPalette
from PySide6.QtWidgets import QApplication, QWidget


@dataclass(frozen=True, slots=True)
class Theme:
    """The named colours of one look."""

    name: str
    window: str
    surface: str
    field: str  # what is written into, and tables
    raised: str
    border: str
    text: str
    muted: str
    accent: str
    on_accent: str
    good: str
    warn: str
    bad: str
    series: tuple[str, ...]


LIGHT = Theme(
    name="light",
    window="#f4f5f7",
    surface="#ffffff",
    field="#ffffff",
    raised="#e9ebef",
    border="#c9cdd4",
    text="#1c2026",
    muted="#565d68",
    accent="#0b5cad",
    on_accent="#ffffff",
    good="#17692f",
    warn="#855000",
    bad="#a81f1f",
    series=("#0072b2", "#b04a00", "#00795a", "#a3457f", "#8a6d00", "#3d7fa6", "#444444", "#7a4fbf"),
)

DARK = Theme(
    name="dark",
    window="#17191d",
    surface="#1f2227",
    field="#15171b",
    raised="#2a2e35",
    border="#454b55",
    text="#e8eaed",
    muted="#a9b0bb",
    accent="#7ab8f5",
    on_accent="#0d1b2a",
    good="#7fd69a",
    warn="#f0bb6a",
    bad="#ff9a94",
    series=("#56b4e9", "#e69f00", "#2fc79d", "#e08fc0", "#f0e442", "#9fd3f2", "#d0d0d0", "#b79bff"),
)

DASHES = (
    Qt.PenStyle.SolidLine,
    Qt.PenStyle.DashLine,
    Qt.PenStyle.DotLine,
    Qt.PenStyle.DashDotLine,
    Qt.PenStyle.DashDotDotLine,
)
MARKS = ("o", "s", "t", "d", "+", "x", "star", "p")


def choose(name: str, app: QApplication) -> Theme:
    """The theme "light" or "dark"; "system" follows the desktop's setting."""
    if name == "system":
        dark = app.styleHints().colorScheme() == Qt.ColorScheme.Dark
        return DARK if dark else LIGHT
    return DARK if name == "dark" else LIGHT


def apply(app: QApplication, theme: Theme, percent: int, base_points: float) -> None:
    """Gives the whole application the theme, and text at `percent` of `base_points`."""
    app.setStyle("Fusion")
    font = app.font()
    font.setPointSizeF(base_points * percent / 100.0)
    app.setFont(font)
    app.setPalette(_palette(theme))
    points = font.pointSizeF()
    check = Path(str(files("swag_studio.resources") / "style" / f"check-{theme.name}.svg"))
    box = round(QFontMetrics(font).height() * 0.85)
    app.setStyleSheet(
        _STYLE.format(
            t=theme,
            title=points * 1.5,
            heading=points * 1.1,
            box=box,
            round=box // 2 + 1,  # with its border
            dot=box // 3,
            wide=3 * (box // 3) // 2,
            check=check.as_posix(),
        )
    )


def window_icon() -> QIcon:
    """The program's icon in the sizes that window managers ask for."""
    icon = QIcon()
    for entry in (files("swag_studio.resources") / "icons").iterdir():
        if entry.name.endswith(".png"):
            icon.addFile(str(entry))
    return icon


def ems(widget: QWidget, count: float) -> int:
    """The width in pixels of `count` letters in the widget's font: lengths that follow the text."""
    return round(count * widget.fontMetrics().averageCharWidth())


def _palette(t: Theme) -> QPalette:
    roles = {
        QPalette.ColorRole.Window: t.window,
        QPalette.ColorRole.WindowText: t.text,
        QPalette.ColorRole.Base: t.field,
        QPalette.ColorRole.AlternateBase: t.window if t.field == t.surface else t.surface,
        QPalette.ColorRole.Text: t.text,
        QPalette.ColorRole.Button: t.raised,
        QPalette.ColorRole.ButtonText: t.text,
        QPalette.ColorRole.Highlight: t.accent,
        QPalette.ColorRole.HighlightedText: t.on_accent,
        QPalette.ColorRole.ToolTipBase: t.raised,
        QPalette.ColorRole.ToolTipText: t.text,
        QPalette.ColorRole.PlaceholderText: t.muted,
        QPalette.ColorRole.Link: t.accent,
        QPalette.ColorRole.Mid: t.border,
    }
    palette = QPalette()
    for role, colour in roles.items():
        palette.setColor(role, QColor(colour))
    disabled = QPalette.ColorGroup.Disabled
    for role in (QPalette.ColorRole.Text, QPalette.ColorRole.ButtonText):
        palette.setColor(disabled, role, QColor(t.muted))
    return palette


_STYLE = """
QFrame[card="true"] {{ background: {t.surface}; border: 1px solid {t.border};
                       border-radius: 6px; }}
QLabel[role="title"] {{ font-size: {title}pt; font-weight: 600; }}
QLabel[role="heading"] {{ font-size: {heading}pt; font-weight: 600; }}
QLabel[role="strong"] {{ font-weight: 600; }}
QLabel[role="muted"] {{ color: {t.muted}; }}
QLabel[role="good"] {{ color: {t.good}; }}
QLabel[role="warn"] {{ color: {t.warn}; }}
QLabel[role="bad"] {{ color: {t.bad}; }}
QLabel[role="accent"] {{ color: {t.accent}; font-weight: 600; }}
QLabel[role="struck"] {{ color: {t.muted}; text-decoration: line-through; }}
QFrame[drop="idle"] {{ border: 2px dashed {t.border}; }}
QFrame[drop="over"] {{ border: 2px dashed {t.accent};
                       background: {t.raised}; }}
QScrollArea {{ border: 1px solid transparent; background: {t.window}; }}
QScrollArea[bare="true"] {{ background: transparent; }}
QScrollArea[page="true"] {{ border: 0; }}
QPushButton {{ padding: 5px 12px; }}
QToolButton[step="true"] {{ padding: 4px 8px; border: 2px solid transparent;
                            border-radius: 4px; }}
QToolButton[step="true"]:hover {{ background: {t.raised}; }}
QToolButton[step="true"]:checked {{ background: {t.surface}; color: {t.accent};
    border-bottom: 2px solid {t.accent}; font-weight: 600; }}
QPushButton[role="primary"] {{ background: {t.accent}; color: {t.on_accent};
    border: 3px solid {t.accent}; border-radius: 4px; font-weight: 600; padding: 3px 10px; }}
QPushButton[role="primary"]:disabled {{ background: {t.raised}; color: {t.muted};
    border: 1px solid {t.border}; padding: 5px 12px; }}
QPushButton[role="danger"] {{ background: {t.surface}; color: {t.bad};
    border: 2px solid {t.bad}; border-radius: 4px; padding: 4px 11px; }}
QPushButton:focus, QToolButton:focus {{ outline: none; border: 2px solid {t.accent}; }}
QPushButton[role="primary"]:focus {{ border: 3px double {t.on_accent}; }}
QPushButton[role="danger"]:focus {{ border: 2px solid {t.accent}; }}
QLineEdit, QPlainTextEdit, QTextEdit, QTextBrowser {{ border: 1px solid {t.muted};
    border-radius: 3px; padding: 2px 3px; background: {t.field}; }}
QLineEdit:focus, QPlainTextEdit:focus, QTextEdit:focus {{ border: 2px solid {t.accent};
    padding: 1px 2px; }}
QLineEdit:disabled, QPlainTextEdit:read-only, QTextBrowser {{ border-color: {t.border}; }}
QAbstractSpinBox QLineEdit, QComboBox QLineEdit {{ border: 0; padding: 0; }}
QCheckBox::indicator, QRadioButton::indicator, QAbstractItemView::indicator {{
    width: {box}px; height: {box}px; border: 1px solid {t.muted}; background: {t.field}; }}
QCheckBox::indicator, QAbstractItemView::indicator {{ border-radius: 3px; }}
QRadioButton::indicator {{ border-radius: {round}px; }}
QCheckBox::indicator:checked, QAbstractItemView::indicator:checked {{
    background: {t.accent}; border-color: {t.accent}; image: url("{check}"); }}
QRadioButton::indicator:checked {{ width: {dot}px; height: {dot}px; background: {t.on_accent};
    border: {dot}px solid {t.accent}; border-radius: {wide}px; }}
QCheckBox, QRadioButton, QSlider {{ border: 1px solid transparent; border-radius: 3px; }}
QCheckBox:focus, QRadioButton:focus, QSlider:focus, QTableView:focus, QListView:focus,
QScrollArea:focus {{ outline: none; border: 1px solid {t.accent}; }}
QTabBar::tab {{ padding: 5px 12px; border: 2px solid transparent; border-radius: 4px; }}
QTabBar::tab:hover {{ background: {t.raised}; }}
QTabBar::tab:selected {{ background: {t.surface}; color: {t.accent};
    border-bottom: 2px solid {t.accent}; }}
QTabBar::tab:selected:focus {{ border: 2px solid {t.accent}; }}
QTabBar::tab:disabled {{ color: {t.muted}; }}
QCheckBox:disabled, QRadioButton:disabled {{ color: {t.muted}; }}
QHeaderView::section {{ background: {t.raised}; color: {t.text}; border: 0;
    border-right: 1px solid {t.border}; border-bottom: 1px solid {t.border}; padding: 4px 6px; }}
QTableView, QListView {{ border: 1px solid {t.border}; gridline-color: {t.border}; }}
QListWidget::item {{ padding: 4px 6px; }}
QTableView[line="single"]::item {{ padding: 0 4px; }}
QToolTip {{ background: {t.raised}; color: {t.text}; border: 1px solid {t.border}; }}
"""
