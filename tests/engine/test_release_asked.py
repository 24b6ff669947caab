"""What cannot be asked of a release is refused in a sentence, before anything is done."""

from __future__ import annotations

from typing import Any

import pytest

from swag_studio.engine import release_asked
from swag_studio.engine.registry import EXPORTERS
from swag_studio.engine.release_asked import checked, chosen, formats
from swag_studio.releases import ReleaseError, ReleaseOptions


@pytest.fixture
def no_pyarrow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(release_asked, "find_spec", lambda name: None)


@pytest.mark.parametrize(
    ("values", "text"),
    [
        ({"overrides": ("typos",)}, "typos is no check. The errors are duplicate_options, "),
        ({"overrides": ("stray_space",)}, "stray_space is a warning, which blocks no release"),
        ({"overrides": ("empty_ending",)}, "Give the reason with --because"),
        ({"formats": ("docx",)}, "docx is no format. The formats are swag_csv, "),
        ({"language": "english"}, "english is no code of a language"),
        ({"language": "jp"}, "such as en"),
        ({"version": "1"}, "1 is no version"),
        ({"cost_per_hour": float("inf")}, "no sum of money"),
        ({"cost_per_hour": float("nan")}, "no sum of money"),
        ({"cost_per_hour": -0.5}, "no sum of money"),
    ],
)
def test_what_cannot_be_is_refused(values: dict[str, Any], text: str) -> None:
    with pytest.raises(ReleaseError, match=text):
        checked(ReleaseOptions(**{"version": "1.0.0", "override_reason": "", **values}))


@pytest.mark.parametrize(
    ("given", "told"), [("EN", "en"), (" ja ", "ja"), ("yue", "yue"), ("", "")]
)
def test_a_language_is_told_as_its_code(given: str, told: str) -> None:
    assert checked(ReleaseOptions("1.0.0", language=given)).language == told


def test_every_format_is_offered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(release_asked, "find_spec", lambda name: None)
    assert formats() == dict.fromkeys(EXPORTERS, "") | {"parquet": "pyarrow"}
    monkeypatch.setattr(release_asked, "find_spec", lambda name: name)
    assert formats() == dict.fromkeys(EXPORTERS, "")


@pytest.mark.usefixtures("no_pyarrow")
def test_what_lacks_its_package_is_left_out_unless_it_was_named() -> None:
    every = chosen(ReleaseOptions("1.0.0"))
    assert every.written == tuple(n for n in EXPORTERS if n != "parquet")
    assert every.left_out == {"parquet": "pyarrow"}
    some = chosen(ReleaseOptions("1.0.0", formats=("lm_eval", "hellaswag", "lm_eval")))
    assert some.written == ("swag_csv", "swag_full", "hellaswag", "lm_eval")
    assert some.left_out == {}
    with pytest.raises(ReleaseError, match="needs the package pyarrow, which is not installed"):
        chosen(ReleaseOptions("1.0.0", formats=("parquet",)))
