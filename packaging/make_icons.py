"""Draws the icons' PNG files from their SVG files: `python packaging/make_icons.py`.

The files are part of the repository, so that nothing but a change of a drawing needs this.
"""

from __future__ import annotations

import os
import struct
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtCore import QBuffer, QByteArray, Qt
from PySide6.QtGui import QGuiApplication, QImage, QPainter
from PySide6.QtSvg import QSvgRenderer

SIZES = (16, 24, 32, 48, 64, 128, 256)  # pixels, of the hicolor theme
HERE = Path(__file__).resolve().parent
ICONS = HERE.parent / "resources" / "icons"


def draw(drawing: Path, size: int) -> QImage:
    """The drawing as a square image on nothing."""
    image = QImage(size, size, QImage.Format.Format_ARGB32)
    image.fill(Qt.GlobalColor.transparent)
    painter = QPainter(image)
    QSvgRenderer(str(drawing)).render(painter)
    painter.end()
    return image


def png(image: QImage) -> bytes:
    """The image's PNG file."""
    data = QByteArray()
    buffer = QBuffer(data)
    buffer.open(QBuffer.OpenModeFlag.WriteOnly)
    image.save(buffer, "PNG")
    return bytes(data.data())


def ico(pictures: dict[int, bytes]) -> bytes:
    """An icon file of Windows with pictures of several sizes; Qt writes only one."""
    entries, start = b"", 6 + 16 * len(pictures)
    for size, picture in pictures.items():
        side = size % 256  # 256 is written as 0
        entries += struct.pack("<4B2H2I", side, side, 0, 0, 1, 32, len(picture), start)
        start += len(picture)
    return struct.pack("<3H", 0, 1, len(pictures)) + entries + b"".join(pictures.values())


def main() -> None:
    """Writes swag-studio-SIZE.png beside the drawing, and the forms of Windows and macOS."""
    application = QGuiApplication([])
    drawing = ICONS / "swag-studio.svg"
    for size in SIZES:
        draw(drawing, size).save(str(ICONS / f"swag-studio-{size}.png"))
    pictures = {size: png(draw(drawing, size)) for size in SIZES}
    (HERE / "windows" / "swag-studio.ico").write_bytes(ico(pictures))
    draw(drawing, 512).save(str(HERE / "macos" / "swag-studio.icns"))
    del application


if __name__ == "__main__":
    main()
