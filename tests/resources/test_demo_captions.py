"""The demo captions: what the scripts promise, held against the file that ships.

Bounds come from what the demo needs (enough videos, a vocabulary that a small language model
covers, no repeated pairs), not from the file.
"""

import json
import random
import re
import shutil
import subprocess
import sys
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest

DEMO = Path(__file__).resolve().parents[2] / "resources" / "demo"


@pytest.fixture(scope="module")
def videos() -> dict:
    return json.loads((DEMO / "captions.json").read_text(encoding="ascii"))


@pytest.fixture(scope="module")
def scripts(videos: dict) -> list[list[str]]:
    return [video["sentences"] for video in videos.values()]


def tokens(sentence: str) -> list[str]:
    return re.findall(r"[a-z0-9]+|[.,]", sentence.lower())


def test_generator_writes_the_same_bytes_again(tmp_path: Path) -> None:
    copy = tmp_path / "demo"
    shutil.copytree(DEMO, copy)
    (copy / "captions.json").unlink()
    subprocess.run([sys.executable, copy / "make_captions.py"], check=True, timeout=600)
    assert (copy / "captions.json").read_bytes() == (DEMO / "captions.json").read_bytes()


def test_schema_and_counts(videos: dict) -> None:
    assert 760 <= len(videos) <= 840
    for name, video in videos.items():
        assert re.fullmatch(r"v_[A-Za-z0-9_-]{11}", name)
        assert set(video) == {"duration", "timestamps", "sentences"}
        assert isinstance(video["duration"], float)
        assert 3 <= len(video["sentences"]) <= 6
        assert len(video["timestamps"]) == len(video["sentences"])


def test_at_least_45_activities() -> None:
    lines = [
        line
        for path in (DEMO / "activities").glob("*.txt")
        for line in path.read_text(encoding="ascii").splitlines()
    ]
    names = [line for line in lines if line.startswith("== ")]
    assert len(set(names)) == len(names) >= 45


def test_every_script_has_5_to_8_steps() -> None:
    for path in (DEMO / "activities").glob("*.txt"):
        for script in path.read_text(encoding="ascii").split("== ")[1:]:
            steps = {line.split()[0] for line in script.splitlines() if line[:1].isdigit()}
            assert 5 <= len(steps) <= 8, script.splitlines()[0]


def test_times_ascend_within_the_video(videos: dict) -> None:
    for video in videos.values():
        times = video["timestamps"]
        assert all(0 <= start < end <= video["duration"] for start, end in times)
        for (start, end), (next_start, next_end) in pairwise(times):
            assert start < next_start and end < next_end
            assert -5 < next_start - end < 10


def test_sentences_are_plain(scripts: list[list[str]]) -> None:
    for sentence in (sentence for script in scripts for sentence in script):
        assert re.fullmatch(r"[A-Z][A-Za-z]*(,? [a-z]+)+\.", sentence), sentence
        assert 6 <= len(sentence.split()) <= 30, sentence


@pytest.mark.parametrize(
    "wrong",
    [
        r"\b[Aa] [aeiou]",
        r"\b[Aa]n [^aeiou]",
        r"\b(\w+) \1\b",
        r"\b([Hh]e|[Ss]he|[Tt]he (wo)?man|[Tt]he (boy|girl|chef)) (are|have|do|pour|walk|put)\b",
        r"\b([Tt]hey|[Tt]he (couple|men|women|kids|friends|group|people)) (is|has|does|\w+[^s]s)\b",
    ],
)
def test_grammar_that_a_template_can_break(scripts: list[list[str]], wrong: str) -> None:
    found = [sentence for script in scripts for sentence in script if re.search(wrong, sentence)]
    assert found == []


def test_few_sentences_open_with_an_adverb(scripts: list[list[str]]) -> None:
    sentences = [sentence for script in scripts for sentence in script]
    openers = r"(Afterwards|Next|After that|Soon|Finally|In the end),"
    assert sum(bool(re.match(openers, sentence)) for sentence in sentences) < 0.08 * len(sentences)


def test_vocabulary_is_small_and_no_word_of_weight_is_rare(scripts: list[list[str]]) -> None:
    texts = [[token for sentence in script for token in tokens(sentence)] for script in scripts]
    assert 900 <= len({token for text in texts for token in text}) <= 1600
    for seed in range(10):
        random.Random(seed).shuffle(texts)
        middle = len(texts) // 2
        for half, other in ((texts[:middle], texts[middle:]), (texts[middle:], texts[:middle])):
            counts = Counter(token for text in half for token in text)
            told = [token for text in other for token in text]
            assert sum(counts[token] >= 3 for token in told) > 0.95 * len(told)


def test_videos_differ(scripts: list[list[str]]) -> None:
    assert len({tuple(script) for script in scripts}) == len(scripts)
    pairs = [pair for script in scripts for pair in pairwise(script)]
    assert len(set(pairs)) > 0.97 * len(pairs)
