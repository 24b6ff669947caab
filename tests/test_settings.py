from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from swag_studio import settings
from swag_studio.settings import Settings


def test_what_is_saved_is_loaded(tmp_path: Path) -> None:
    wanted = Settings(
        recent=("/a.swag", "/b.swag"), theme="dark", text_percent=150, geometry="00ff"
    )
    settings.save(wanted, tmp_path)
    assert settings.load(tmp_path) == wanted


def test_nothing_saved_gives_the_defaults(tmp_path: Path) -> None:
    assert settings.load(tmp_path) == Settings()


@given(
    text=st.one_of(
        st.text(max_size=30),
        st.sampled_from(
            ["[]", "null", '{"recent": 3}', '{"theme": "pink", "text_percent": 7, "geometry": 1}']
        ),
    )
)
def test_a_damaged_file_gives_the_defaults(tmp_path_factory: object, text: str) -> None:
    folder = tmp_path_factory.mktemp("profile")  # type: ignore[attr-defined]
    settings.file(folder).write_text(text, encoding="utf-8", errors="replace")
    assert settings.load(folder) == Settings()


def test_recent_projects_stand_once_and_in_order(tmp_path: Path) -> None:
    found = Settings()
    for name in ["a", "b", "a", *map(str, range(12))]:
        found = found.with_recent(tmp_path / name)
    names = [Path(p).name for p in found.recent]
    assert names == [str(n) for n in range(11, 1, -1)]
    assert [
        Path(p).name
        for p in Settings()
        .with_recent(tmp_path / "a")
        .with_recent(tmp_path / "b")
        .with_recent(tmp_path / "a")
        .recent
    ] == ["a", "b"]
