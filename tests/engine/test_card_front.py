"""The front matter: what the Hub takes, whatever a curator types."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swag_studio.engine.card_front import front_matter, plain


def front(total: int = 10, **values: Any) -> list[str]:
    counts = {"questions": {"train": {"all": total - 1}, "val": {"all": 1}}}
    manifest = {"title": "", "licence": "", "language": "en", "files": {}, "counts": counts}
    return front_matter({**manifest, **values}).split("\n")


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ("", ["license: unknown"]),
        ("cc-by-4.0", ["license: cc-by-4.0"]),
        ("cc0-1.0", ["license: cc0-1.0"]),
        ("CC-BY-4.0", ["license: cc-by-4.0"]),
        ("CC BY 4.0", ["license: cc-by-4.0"]),
        ("MIT", ["license: mit"]),
        ("mine", ["license: other", 'license_name: "mine"']),
        ("cc-by-9.0", ["license: other", 'license_name: "cc-by-9.0"']),
        ('Ask "us": a|b', ["license: other", 'license_name: "Ask \\"us\\": a/b"']),
    ],
)
def test_a_licence_is_an_id_of_the_hub_or_words(given: str, told: list[str]) -> None:
    assert [line for line in front(licence=given) if line.startswith("license")] == told


@pytest.mark.parametrize(
    ("total", "size"),
    [(999, "n<1K"), (1000, "1K<n<10K"), (113_557, "100K<n<1M"), (1_000_000, "1M<n<10M")],
)
def test_sizes(total: int, size: str) -> None:
    assert f"- {size}" in front(total)


def test_a_language_is_a_code_or_not_said() -> None:
    assert "language:" in front(language="ja") and '- "ja"' in front(language="ja")
    assert "language:" not in front(language="Japanese")


def test_the_configurations_load_texts_as_they_are() -> None:
    lines = front(files={"train_full.csv": {}, "val_full.csv": {}})
    names = [line for line in lines if "config_name" in line]
    assert names == [f"- config_name: {name}" for name in ("default", "test", "full")]
    assert lines.count("  keep_default_na: false") == 3
    assert [line for line in front() if "config_name" in line] == names[:2]


def test_what_a_cache_knows_a_configuration_by_follows_the_files_it_loads() -> None:
    """`datasets` compares no files: equal words would have it give another release's questions."""

    def told(**hashes: str) -> list[str]:
        names = ("train.csv", "val.csv", "test.csv", "README.md")
        files = {name: {"sha256": hashes.get(name.partition(".")[0], "0")} for name in names}
        return [line for line in front(files=files) if "description" in line]

    default, test = told()
    assert told(README="1") == told() == [default, test] and default != test
    assert [told(train="1")[1], told(val="1")[1]] == [test, test]
    assert len({default, told(train="1")[0], told(val="1")[0]}) == 3
    assert told(test="1")[0] == default and told(test="1")[1] != test


@given(st.text(max_size=20))
def test_any_title_is_one_line_of_json(title: str) -> None:
    lines = front(title=title, licence=title)
    (name,) = [line for line in lines if line.startswith("pretty_name: ")]
    assert json.loads(name.removeprefix("pretty_name: "))
    assert lines[0] == lines[-1] == "---" and lines.count("---") == 2
    assert not set(plain(title)) & set("|`\x07\x7f\x85\u2028\n\ufeff")
