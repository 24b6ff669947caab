"""ActivityNet Captions: what is read, reported and refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from swag_studio.engine.sources.activitynet import ActivityNet
from swag_studio.errors import SourceError
from swag_studio.records import Caption, LeftOut

Written = Callable[[str | bytes], Path]

sentences = st.text(st.characters(exclude_categories=["C"]), min_size=1).map("A ".__add__)
keys = st.text("abcXYZ019_-", min_size=1, max_size=11).map("v_".__add__)


@st.composite
def videos(draw: st.DrawFn) -> dict[str, Any]:
    texts = draw(st.lists(sentences, min_size=1, max_size=4))
    starts = [draw(st.floats(0, 100)) for _ in texts]
    pairs = [[start, start + draw(st.floats(0, 10))] for start in starts]
    return {"duration": 110, "timestamps": pairs, "sentences": texts}


files = st.dictionaries(keys, videos(), min_size=1, max_size=4)


def read(path: Path) -> list[Caption | LeftOut]:
    return [item for item in ActivityNet(path).read() if isinstance(item, Caption | LeftOut)]


@settings(max_examples=40)
@given(files)
def test_what_was_written_is_read(written: Written, data: dict[str, Any]) -> None:
    path = written(json.dumps(data))
    assert ActivityNet.sniff(path)
    expected = []
    for key, video in data.items():
        timed = sorted(
            zip(video["timestamps"], video["sentences"], strict=True), key=lambda p: p[0][0]
        )
        name = "anetv_" + key[2:]
        expected += [
            Caption(key, name, name, i, text, start, end)
            for i, ((start, end), text) in enumerate(timed)
        ]
    assert read(path) == expected


@settings(max_examples=40)
@given(files, st.data())
def test_a_file_that_is_cut_off_is_refused(
    written: Written, data: dict[str, Any], draw: st.DataObject
) -> None:
    whole = json.dumps(data, ensure_ascii=False).encode()
    with pytest.raises(SourceError):
        read(written(whole[: draw.draw(st.integers(1, len(whole) - 1))]))


def test_names(written: Written) -> None:
    video = {"timestamps": [[0, 1]], "sentences": ["A man waves."]}
    items = read(written(json.dumps({"v_-a": video, "bare": video})))
    assert [(c.document, c.group, c.video_id) for c in items if isinstance(c, Caption)] == [
        ("v_-a", "anetv_-a", "anetv_-a"),
        ("bare", "anetv_bare", "anetv_bare"),
    ]


def test_what_is_reported(written: Written) -> None:
    data = {
        "v_a": {"timestamps": [[0, 1], [3, 2]], "sentences": [" A man\nwaves. ", "\t"]},
        "v_b": {"timestamps": [[0, 1]], "sentences": ["One.", "Two."]},
        "v_c": {"timestamps": [], "sentences": []},
        "v_d": {"timestamps": [[3, 2]], "sentences": ["A man waves."]},
        "v_e": {"timestamps": [[0, 0]], "sentences": ["\ud800"]},
    }
    assert read(written(b"\xef\xbb\xbf" + json.dumps(data).encode())) == [
        Caption("v_a", "anetv_a", "anetv_a", 0, " A man\nwaves. ", 0, 1),
        LeftOut("v_a", 1, "empty_sentence", "video v_a, sentence 2"),
        LeftOut("v_b", 0, "counts_differ", "video v_b", "2 sentences, 1 timestamps"),
        LeftOut("v_c", 0, "no_sentences", "video v_c"),
        LeftOut("v_d", 0, "end_before_start", "video v_d, sentence 1"),
        Caption("v_d", "anetv_d", "anetv_d", 0, "A man waves."),
        LeftOut("v_e", 0, "lone_surrogate", "video v_e, sentence 1"),
        LeftOut("", 0, "byte_order_mark", "line 1"),
    ]


@pytest.mark.parametrize(
    ("video", "place", "reason"),
    [
        ("[]", "video v_a", "not an object with timestamps and sentences"),
        ('{"sentences": []}', "video v_a", "has no list of timestamps"),
        ('{"timestamps": [], "sentences": {}}', "video v_a", "has no list of sentences"),
        ('{"timestamps": [[0, 1]], "sentences": [1]}', "video v_a, sentence 1", "not text"),
        ('{"timestamps": [[0]], "sentences": ["b"]}', "video v_a, sentence 1", "not a pair"),
        ('{"timestamps": [0], "sentences": ["b"]}', "video v_a, sentence 1", "not a pair"),
        ('{"timestamps": [[0, "1"]], "sentences": ["b"]}', "video v_a, sentence 1", "not a number"),
        ('{"timestamps": [[0, NaN]], "sentences": ["b"]}', "video v_a, sentence 1", "seconds from"),
        ('{"timestamps": [[-1, 0]], "sentences": ["b"]}', "video v_a, sentence 1", "seconds from"),
        ('{"timestamps": [[0, 1e999]], "sentences": ["b"]}', "video v_a", "seconds from 0"),
        ('{"timestamps": [[], []], "timestamps": []}', "line 1", "timestamps stands there twice"),
        ('{"timestamps": [], "sentences": []}, "v_a": {}', "video v_a", "in the file twice"),
        ('{"timestamps": [], "sentences": []}, "v_a ": {}', "video v_a ", "in the file twice"),
        ('{"timestamps": [], "sentences": []}, "": {}', "video ", "its name is empty"),
    ],
)
def test_what_is_refused(written: Written, video: str, place: str, reason: str) -> None:
    path = written('{"v_a": ' + video + "}")
    with pytest.raises(SourceError) as caught:
        read(path)
    assert reason in caught.value.reason
    assert caught.value.place.startswith(place)


def test_a_refusal_does_not_quote_the_text(written: Written) -> None:
    path = written('{"v_a": {"timestamps": [[0, "SECRET"]], "sentences": ["SECRET"]}}')
    with pytest.raises(SourceError) as caught:
        read(path)
    assert "SECRET" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "videos", "sentences", "pairs"),
    [
        ("train", 10_009, 37_421, 27_412),
        ("val_1", 4_917, 17_505, 12_588),
        ("val_2", 4_885, 17_031, 12_146),
    ],
)
def test_real_counts(real_data: Path, name: str, videos: int, sentences: int, pairs: int) -> None:
    """METHOD's counts. Two captions of train run backwards in time; they stay."""
    path = real_data / "activitynet_captions" / f"{name}.json"
    items = read(path)
    kept = [item for item in items if isinstance(item, Caption)]
    assert len({c.document for c in kept}) == videos
    assert len(kept) == sentences
    assert sum(a.document == b.document for a, b in pairwise(kept)) == pairs
    assert all(a.document != b.document or a.position + 1 == b.position for a, b in pairwise(kept))
    assert [item.reason for item in items if isinstance(item, LeftOut)] == (
        ["end_before_start"] * 2 if name == "train" else []
    )
