"""TACoS: frames become seconds, and a pair is two sentences of one description."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swag_studio.engine.ingest import guess
from swag_studio.engine.sources.activitynet import ActivityNet
from swag_studio.engine.sources.tacos import Tacos
from swag_studio.errors import SourceError
from swag_studio.records import Caption, LeftOut

Written = Callable[[str | bytes], Path]


def read(path: Path) -> list[Caption | LeftOut]:
    return [item for item in Tacos(path).read() if isinstance(item, Caption | LeftOut)]


def captions(path: Path) -> list[Caption]:
    return [item for item in read(path) if isinstance(item, Caption)]


def video(times: list[list[int]], fps: float = 25) -> dict[str, Any]:
    sentences = [f"Sentence {i}." for i in range(len(times))]
    return {"timestamps": times, "fps": fps, "num_frames": 9000, "sentences": sentences}


def drawn(path: Path) -> str:
    """The numbers of the sentences; those in one document are joined."""
    documents: dict[str, list[str]] = {}
    for c in captions(path):
        documents.setdefault(c.document, []).append(re.sub(r"\D", "", c.text))
    return " ".join("-".join(numbers) for numbers in documents.values())


def test_frames_become_seconds(written: Written) -> None:
    data = {"s1-d2.avi": video([[50, 100], [100, 150], [25, 60]]), "b": video([[10, 20]], 12.5)}
    assert read(written(json.dumps(data))) == [
        Caption("s1-d2.avi/1", "tacos_s1-d2", "tacos_s1-d2", 0, "Sentence 0.", 2.0, 4.0),
        Caption("s1-d2.avi/1", "tacos_s1-d2", "tacos_s1-d2", 1, "Sentence 1.", 4.0, 6.0),
        Caption("s1-d2.avi/2", "tacos_s1-d2", "tacos_s1-d2", 0, "Sentence 2.", 1.0, 2.4),
        Caption("b/1", "tacos_b", "tacos_b", 0, "Sentence 0.", 0.8, 1.6),
    ]


@pytest.mark.parametrize(
    ("times", "expected"),
    [
        ([[1, 2], [3, 4], [1, 2], [3, 4]], "0-1 2-3"),  # two descriptions
        ([[1, 2], [3, 9], [5, 9], [5, 12]], "0-1-2-3"),  # they may overlap
        ([[1, 2], [3, 4], [2, 3], [5, 6]], "0-1 2-3"),  # a step back
        ([[1, 2], [3, 9], [3, 9], [3, 9], [10, 12]], "0-1 2 3-4"),  # nobody knows which is first
        ([[1, 20], [1, 5], [6, 7]], "0 1-2"),  # the next one begins where the last one did
        ([[1, 20], [5, 10]], "0 1"),  # within it, not after it
    ],
)
def test_what_goes_on(written: Written, times: list[list[int]], expected: str) -> None:
    assert drawn(written(json.dumps({"v": video(times)}))) == expected


spans = st.tuples(st.integers(0, 30), st.integers(0, 10)).map(lambda t: [t[0], t[0] + t[1]])


@given(st.lists(spans, min_size=1, max_size=12))
def test_documents_are_the_file_cut_where_it_does_not_go_on(
    written: Written, times: list[list[int]]
) -> None:
    found = captions(written(json.dumps({"v": video(times, fps=1)})))
    assert [[c.start, c.end] for c in found] == times  # in the file's order
    assert {c.group for c in found} == {"tacos_v"}
    for a, b in pairwise(found):
        later = (b.start >= a.start, b.end >= a.end)  # type: ignore[operator]
        goes_on = all(later) and (a.start, a.end) != (b.start, b.end)
        assert (a.document == b.document) == goes_on
        assert b.position == (a.position + 1 if goes_on else 0)


def test_it_is_told_from_activitynet(written: Written) -> None:
    told = 'Says "num_frames": 3.'
    seconds = {"duration": 9.5, "timestamps": [[0, 1]], "sentences": [told]}
    frames, plain = written(json.dumps({"v": video([[1, 2]])})), written(json.dumps({"v": seconds}))
    assert (guess(frames), guess(plain)) == ("tacos", "activitynet")
    assert (Tacos.sniff(plain), ActivityNet.sniff(frames)) == (False, False)


def test_neither_reads_the_other(written: Written) -> None:
    frames = written(json.dumps({"v_a": video([[1, 2]])}))
    with pytest.raises(SourceError, match=r"video v_a: its times are frames.* Import it as TACoS"):
        list(ActivityNet(frames).read())
    seconds = {"duration": 9.5, "timestamps": [[0, 1]], "sentences": ["A man waves."]}
    with pytest.raises(SourceError, match="video v_a: has no fps"):
        read(written(json.dumps({"v_a": seconds})))


@pytest.mark.parametrize("fps", ["null", "true", "0", "-1", '"25"', "NaN", "1e999"])
def test_a_rate_that_is_none_is_refused(written: Written, fps: str) -> None:
    text = f'{{"v": {{"timestamps": [[0, 1]], "sentences": ["A."], "fps": {fps}}}}}'
    with pytest.raises(SourceError, match="video v: has no fps"):
        read(written(text))


def test_real_counts(real_data: Path) -> None:
    """No stretch is longer than the 15 sentences that a description may have."""
    path = real_data / "tacos" / "val.json"
    if not path.is_file():
        pytest.skip("no TACoS here")
    assert guess(path) == "tacos"
    items = read(path)
    kept = [item for item in items if isinstance(item, Caption)]
    assert len(kept) == len(items) == 4_436
    assert len({c.group for c in kept}) == 27
    documents = [c.document for c in kept]
    assert len(set(documents)) == 624
    assert max(documents.count(d) for d in set(documents)) == 15
    pairs = [(a, b) for a, b in pairwise(kept) if a.document == b.document]
    gaps = [b.start - a.end for a, b in pairs if a.end is not None and b.start is not None]
    assert len(gaps) == len(pairs) == 3_812
    assert sum(gap > 25 for gap in gaps) == 123  # in seconds; 2,463 if they were frames


def test_real_activitynet_is_not_taken_for_it(real_data: Path) -> None:
    for name in ("train", "val_1", "val_2"):
        assert guess(real_data / "activitynet_captions" / f"{name}.json") == "activitynet"
