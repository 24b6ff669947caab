"""What of the installed packages stays out of the bundle, and why. It knows nothing of PyInstaller.

Sizes are of the installed files in MB. packaging/README.md has them as a table.
"""

from __future__ import annotations

from collections.abc import Iterable
from fnmatch import fnmatch

# Modules that something imports where it finds them, and does without where it does not.
MODULES = {
    "pandas": (84, "sqlite-utils has a feature for it, which the program does not use"),
    "networkx": (19, "torch's compiler, which the program does not use"),
    "setuptools": (8, "torch's compiler of extensions"),
    "pip": (17, "installing"),
    "mypy": (19, "a plug-in of pydantic for it"),
    "hypothesis": (7, "the same"),
    "pytest": (4, "numpy, scipy and torch have tests in their packages"),
    "spacy.tests": (6, "tests"),
    "thinc.tests": (1, "tests"),
    "numpy.tests": (1, "tests"),
    "sklearn.tests": (1, "tests"),
    "torch.utils.tensorboard": (1, "writes for a program that is not there"),
    "torch.utils.benchmark": (1, "measures"),
    "pyqtgraph.examples": (2, "examples, which open windows when they are imported"),
    "pyqtgraph.opengl": (1, "plots in space"),
    "pyqtgraph.jupyter": (1, "plots in a browser"),
    "tkinter": (8, "another toolkit"),
    "PyQt5": (0, "another binding of Qt, where it is installed"),
    "PyQt6": (0, "the same"),
    "PySide2": (0, "the same"),
    "matplotlib": (0, "plots; where it is installed, as the next ones"),
    "IPython": (0, "a shell"),
    "PIL": (0, "pictures"),
    "tensorflow": (0, "a backend of thinc's"),
    "jax": (0, "the same"),
    "cupy": (0, "the same"),
    "PySide6.QtNetwork": (4, "the program uses no network"),
    "PySide6.QtQml": (8, "Qt Quick, as the next one"),
    "PySide6.QtQuick": (9, "the same"),
    "PySide6.QtSql": (2, "the database is SQLite, by Python"),
    "PySide6.QtTest": (1, "tests"),
    "readline": (1, "nobody types into the program's terminal"),
}

# Files by their place in the bundle. `*` also matches slashes.
FILES = {
    "torch/test/*": (83, "torch's own test programs"),
    "torch/include/*": (62, "headers for extensions"),
    "torch/bin/*": (50, "torch's own test programs, and protoc"),
    "torch/share/*": (1, "for building with torch"),
    "torch/lib/libtorchbind_test.so": (1, "torch's own tests"),
    "torch/lib/libjitbackend_test.so": (1, "the same"),
    "torch/lib/libbackend_with_compiler.so": (1, "the same"),
    "torch/lib/libaoti_custom_ops.so": (1, "the same"),
    "*/tests/*": (11, "tests of every package"),
    "*.pyx": (3, "sources of compiled modules"),
    "*.pxd": (1, "the same"),
    "*.pyi": (16, "types for editors"),
    "*.hpp": (1, "headers"),
    "spacy/*.cpp": (1, "the same as *.pyx"),
    "PySide6/Qt/translations/*": (14, "Qt's own words in other languages: the program is English"),
    "PySide6/Qt/qml/*": (19, "Qt Quick"),
    "*libQt6Quick*": (9, "Qt Quick, which a plug-in for input on the screen would bring"),
    "*libQt6Qml*": (10, "the same"),
    "*libQt6VirtualKeyboard*": (1, "the same"),
    "*libQt6Network*": (2, "the program uses no network"),
    "*libQt6EglF*": (1, "screens without a desktop"),
    "*/platforminputcontexts/libqtvirtualkeyboard*": (1, "the same"),
    "*/plugins/sqldrivers/*": (2, "the database is SQLite, by Python"),
    "*/plugins/tls/*": (1, "the program uses no network"),
    "*/plugins/networkinformation/*": (1, "the same"),
    "*/plugins/qmltooling/*": (1, "Qt Quick"),
    "*/plugins/designer/*": (1, "a designer of forms"),
    "*/plugins/egldeviceintegrations/*": (1, "screens without a desktop"),
    "*/plugins/platforms/libqeglfs*": (1, "the same"),
    "*/plugins/platforms/libqlinuxfb*": (1, "the same"),
    "*/plugins/platforms/libqvkkhrdisplay*": (1, "the same"),
    "*/plugins/platforms/libqvnc*": (1, "the same"),
    "*/plugins/generic/*": (1, "touch screens without a desktop"),
    "*/plugins/printsupport/*": (1, "nothing is printed"),
    "*/plugins/wayland-graphics-integration-server/*": (1, "for a desktop, not for a program"),
    "*/imageformats/libqtiff*": (1, "pictures are SVG and PNG"),
    "*/imageformats/libqwebp*": (1, "the same"),
    "*/imageformats/libqjpeg*": (1, "the same"),
    "*/imageformats/libqpdf*": (1, "the same"),
    # The theme of GTK would load the system's GTK beside these libraries of another system's.
    "*/platformthemes/libqgtk3*": (1, "native file dialogs, which desktops have by their portals"),
    **{
        f"lib{name}": (1, "the same: what it needs, and nobody else")
        for name in (
            *("atk-1*", "cairo*", "pango*", "gdk_pixbuf*", "gio-2*", "gobject-2*", "gmodule-2*"),
            *("harfbuzz*", "graphite2*", "fribidi*", "thai*", "datrie*", "pixman*", "jpeg*"),
            *(
                "mount*",
                "blkid*",
                "selinux*",
                "Xrender*",
                "Xext*",
                "Xau*",
                "Xdmcp*",
                "bsd*",
                "md.*",
            ),
        )
    },
    **{
        f"lib{name}": (1, "QtNetwork wants it")
        for name in ("gssapi_krb5*", "krb5*", "k5crypto*", "keyutils*", "com_err*")
    },
    # What every desktop has, in the version that its graphics drivers and settings go with.
    **{
        f"lib{name}.so*": (1, "the system's own is used")
        for name in (
            *("stdc++", "gcc_s", "X11", "X11-xcb", "fontconfig", "freetype", "expat", "uuid"),
            *("gpg-error", "brotlicommon", "brotlidec", "png16"),
        )
    },
}
KEPT = ("torch/bin/torch_shm_manager",)  # torch refuses to be imported without it


def wanted(place: str) -> bool:
    """Whether the file at this place of the bundle comes along."""
    place = place.replace("\\", "/")
    return place in KEPT or not any(fnmatch(place, pattern) for pattern in FILES)


def without_useless(entries: Iterable[tuple[str, str, str]]) -> list[tuple[str, str, str]]:
    """PyInstaller's entries (place, file, kind) without those."""
    return [entry for entry in entries if wanted(entry[0])]
