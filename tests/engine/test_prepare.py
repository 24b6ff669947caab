"""The stage prepare, on small captions with a trivial splitter, and on real ones with spaCy."""

from __future__ import annotations

import itertools
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from swag_studio import recipe as recipes
from swag_studio.engine import grouping, pairs, prepare
from swag_studio.engine.corpus import SPECIALS, UNK, Corpus, Ragged
from swag_studio.engine.pairs import Candidate, Line
from swag_studio.engine.registry import SPLITTERS
from swag_studio.engine.text import TextMaker, tokenise, tokens_of
from swag_studio.engine.vocabulary import masks
from swag_studio.errors import StageError
from swag_studio.events import Event, Finished, Message, Progress
from swag_studio.integrity import SUMS
from swag_studio.project import Project
from swag_studio.recipe import Recipe
from swag_studio.records import (
    Artifact,
    Caption,
    Context,
    LeftOut,
    OwnContext,
    SourceInfo,
    folded,
)

Document = Sequence[str | tuple[str, float, float]]


class FirstWord:
    """Cuts after the first word; a sentence that begins with "x" has no subject."""

    batch = 3

    def split(self, sentences: Sequence[Sequence[str]]) -> list[int | str]:
        return ["no_subject" if s[0].lower() == "x" else 1 for s in sentences]


@pytest.fixture(autouse=True)
def first_word(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(SPLITTERS._parts, "first_word", f"{__name__}:FirstWord")


def recipe(**prepare_values: Any) -> Recipe:
    values = {
        "splitter": "first_word",
        "min_context_tokens": 2,
        "min_ending_tokens": 2,
        "min_count": 1,
        "folds": 2,
        "max_contexts": 0,
    } | prepare_values
    return recipes.preset("demo").with_values({f"prepare.{k}": v for k, v in values.items()})


def bring_in(
    project: Project,
    name: str,
    documents: Mapping[str, Document],
    own: Iterable[OwnContext] = (),
    groups: Mapping[str, str] | None = None,
) -> None:
    """Publishes a source whose documents are their own groups, unless `groups` says otherwise."""
    captions = []
    for document, sentences in documents.items():
        for position, sentence in enumerate(sentences):
            text, *times = (sentence,) if isinstance(sentence, str) else sentence
            start, end = times or (None, None)
            group = (groups or {}).get(document, document)
            captions.append(Caption(document, group, f"v_{group}", position, text, start, end))
    own = list(own)
    info = SourceInfo(
        name, f"{name}.json", "test", name, 1, len(documents), len(captions), len(own)
    )
    project.store.stage_source(info)
    project.store.add_captions(name, captions)
    project.store.add_own_contexts(name, own)
    project.store.publish_source(info)


def make_known(project: Project, documents: Mapping[str, Document]) -> None:
    """Publishes single captions that hold every word of `documents`, some of them in each fold.

    Folds are balanced by captions, so more of them than of the others reach both folds. Their
    groups sort last; they make no pairs.
    """
    sentences = [s if isinstance(s, str) else s[0] for d in documents.values() for s in d]
    words = dict.fromkeys(t for s in sentences for t in tokenise(s))
    text = " ".join([*words, '"', '"'])
    bring_in(project, "~known", {f"~{i}": [text] for i in range(2 * len(sentences) + 1)})


def run(project: Project, chosen: Recipe) -> tuple[Corpus, Artifact, list[Event]]:
    events = list(prepare.run(chosen, project))
    artifact = project.require("prepare", chosen)
    return Corpus.load(project.folder(artifact)), artifact, events


def contexts(project: Project, artifact: Artifact) -> list[Context]:
    return list(project.store.contexts(artifact.version))


def reasons(project: Project, artifact: Artifact) -> dict[str, int]:
    return project.store.dropped_counts(artifact.version)


# Two groups whose captions make contexts under `recipe()`.
PLAIN = {
    "one": ["A dog runs away.", "A cat sits on it.", "A bird sings a song."],
    "two": ["B dog runs away.", "B cat sits on it."],
}


# --- the whole stage -------------------------------------------------------------------------


def test_neighbours_become_contexts(project: Project) -> None:
    bring_in(project, "s", PLAIN)
    make_known(project, PLAIN)
    corpus, artifact, events = run(project, recipe())
    found = {(c.group, c.position, c.sent1, c.sent2, c.found) for c in contexts(project, artifact)}
    assert found == {
        ("one", 1, "A dog runs away.", "A", "cat sits on it."),
        ("one", 2, "A cat sits on it.", "A", "bird sings a song."),
        ("two", 1, "B dog runs away.", "B", "cat sits on it."),
    }
    assert corpus.context_ids == tuple(c.id for c in contexts(project, artifact))
    assert isinstance(events[-1], Finished)
    assert events[-1].summary["pairs"] == 3
    assert list(prepare.run(recipe(), project)) == []


def test_every_reason(project: Project) -> None:
    s = "One two three four."
    documents: dict[str, Document] = {
        "gap": [(s, 0.0, 10.0), ("A gap of too much time.", 36.0, 40.0)],
        "no gap": [(s, 0.0, 10.0), ("A gap of just enough time.", 35.0, 40.0)],
        "backwards": [(s, 50.0, 60.0), ("Overlapping captions are fine.", 0.0, 40.0)],
        "hole": [s, "?", "After the unusable one.", "Then another one comes."],
        "several": [s, "A stop.Then another."],
        "short first": ["Well.", "A second one is fine."],
        "long first": ["One " + "two " * 30 + ".", "A second one is fine here."],
        "short ending": [s, "Hi."],
        "long ending": [s, "A " + "very " * 30 + "long one."],
        "no subject": [s, "X marks the right spot."],
        "within word": [s, "Bob's been there before now."],
        "quotes": [s, '"a b" c d.', s, '"Hello you" he says.'],
    }
    bring_in(project, "s", documents)
    make_known(project, documents)
    chosen = recipe(min_context_tokens=3, max_context_tokens=20, min_ending_tokens=3)
    _, artifact, _ = run(project, chosen)
    dropped = {
        (r.document, r.position): r.reason
        for r in project.store.dropped_pairs(artifact.version)
        if r.document != "quotes"
    }
    assert dropped == {
        ("gap", 1): "gap",
        ("hole", 1): "unusable_caption",
        ("hole", 2): "unusable_caption",
        ("several", 1): "several_sentences",
        ("short first", 1): "context_too_short",
        ("long first", 1): "context_too_long",
        ("short ending", 1): "ending_too_short",
        ("long ending", 1): "ending_too_long",
        ("no subject", 1): "no_subject",
        ("within word", 1): "cut_within_word",
    }
    assert reasons(project, artifact)["cut_within_quotes"] == 2
    kept = {(c.document, c.position) for c in contexts(project, artifact)}
    assert kept >= {("no gap", 1), ("backwards", 1), ("hole", 3)}


def test_a_dropped_caption_or_a_gap_breaks_the_chain(project: Project) -> None:
    documents: dict[str, Document] = {
        "one": ["A dog runs.", "B dog runs.", "...", "C dog runs.", "D dog runs."],
        "two": [("A cat runs.", 0.0, 1.0), ("B cat runs.", 90.0, 91.0)],
    }
    bring_in(project, "s", documents)
    make_known(project, documents)
    corpus, _, _ = run(project, recipe())
    assert corpus.caption_groups.tolist()[:7] == [0, 0, 0, 0, 1, 1, 2]
    assert corpus.caption_chains.tolist()[:7] == [0, 0, 1, 1, 2, 3, 4]


def test_a_position_left_out_by_the_import_is_no_pair(project: Project) -> None:
    bring_in(project, "s", PLAIN)
    make_known(project, {**PLAIN, "d": ["The 0 2 dog runs."]})
    info = SourceInfo("t", "t.json", "test", "t", 1, 1, 2, 0)
    project.store.stage_source(info)
    project.store.add_captions(
        "t", [Caption("d", "d", "d", p, f"The {p} dog runs.", None, None) for p in (0, 2)]
    )
    project.store.publish_source(info)
    _, artifact, events = run(project, recipe())
    assert all(c.document != "d" for c in contexts(project, artifact))
    assert isinstance(events[-1], Finished) and events[-1].summary["pairs"] == 3


ODD = [
    "None", "NaN", "null", "彼は走る。", "a\nb\r\nc d", "İ ı", "<unk>", "<pad> <bos>",
    "'; DROP TABLE captions; --", "\u202eabc", "e\u0301", "", "\n", "\U0001f600 \U0001f600",
]  # fmt: skip


def test_odd_texts_survive(project: Project) -> None:
    bring_in(project, "s", {"odd": ODD, **PLAIN})
    make_known(project, {"odd": ODD, **PLAIN})
    corpus, artifact, events = run(project, recipe())
    assert isinstance(events[-1], Finished)
    summary = events[-1].summary
    assert summary["unusable_captions"] == {"empty": 2, "no_words": 1}
    found = {c.found for c in contexts(project, artifact) if c.document == "odd"}
    assert {"は走る。", "b c d."} <= found
    _assert_adds_up(project, artifact, corpus)


def test_nothing_imported(project: Project) -> None:
    with pytest.raises(StageError, match="no captions"):
        run(project, recipe())


def test_nothing_left_says_why(project: Project) -> None:
    bring_in(project, "s", PLAIN)
    with pytest.raises(StageError, match=r"of 3 pairs.* 3, were dropped as context_too_short"):
        run(project, recipe(min_context_tokens=50))


def test_no_neighbours(project: Project) -> None:
    bring_in(project, "s", {"a": ["One dog runs."], "b": ["One cat runs."]})
    with pytest.raises(StageError, match="2 captions hold no two that follow"):
        run(project, recipe())


def test_fewer_groups_than_folds(project: Project) -> None:
    bring_in(project, "s", PLAIN)
    with pytest.raises(StageError, match=r"2 groups.*3 folds"):
        run(project, recipe(folds=3))


def _files(project: Project, artifact: Artifact) -> dict[str, bytes]:
    folder = project.folder(artifact)
    return {p.name: p.read_bytes() for p in sorted(folder.iterdir())}


def test_a_run_that_was_killed_starts_over(project: Project, tmp_path: Path) -> None:
    bring_in(project, "s", PLAIN)
    chosen = recipe()
    with Project.create(tmp_path / "whole.swag", chosen) as whole:
        bring_in(whole, "s", PLAIN)
        _, artifact, events = run(whole, chosen)
        expected = (_files(whole, artifact), contexts(whole, artifact), artifact.summary)
    for pulls in range(1, len(events)):
        stopped = prepare.run(chosen, project)
        for _ in itertools.islice(stopped, pulls):
            pass
        stopped.close()
        assert project.current("prepare", chosen) is None
    _, artifact, _ = run(project, chosen)
    assert artifact.version == 1
    assert (_files(project, artifact), contexts(project, artifact), artifact.summary) == expected


# --- invariants, by brute force --------------------------------------------------------------

_SENTENCES = st.builds(
    lambda words, stop: " ".join(words) + stop,
    st.lists(st.sampled_from(["a", "b", "A", "c", "x", "don't", "T-shirt", '"']), max_size=5),
    st.sampled_from([".", "!", "", "..", ". b."]),
)
_TIMES = st.none() | st.tuples(st.integers(0, 60), st.integers(0, 60))
_DOCUMENTS = st.dictionaries(
    st.sampled_from("pqrst"), st.lists(_SENTENCES, min_size=1, max_size=5), min_size=2
)


def _assert_adds_up(project: Project, artifact: Artifact, corpus: Corpus) -> None:
    """Counts, folds, splits and texts that must hold for every corpus."""
    rows, summary = contexts(project, artifact), artifact.summary
    neighbours = sum(
        (b[0], b[1].document, b[1].position) == (a[0], a[1].document, a[1].position + 1)
        for a, b in itertools.pairwise(project.store.captions())
    )
    own = sum(1 for _ in project.store.own_contexts())
    assert summary["pairs"] == neighbours + own
    assert len(rows) + sum(reasons(project, artifact).values()) == neighbours + own
    assert summary["dropped"] == reasons(project, artifact)
    selected = [c for c in rows if c.selected]
    assert corpus.context_ids == tuple(c.id for c in selected) == tuple(sorted(corpus.context_ids))

    maker = TextMaker(corpus.vocabulary)
    for i, context in enumerate(selected):
        assert corpus.groups[i] == context.group
        assert corpus.folds[i] == context.fold
        if context.origin == "captions":
            assert maker.ending(corpus.v[i]) == context.found
            assert UNK not in corpus.v[i]
            assert not corpus.masked[context.fold][corpus.v[i]].any()
    for values in ([c.fold for c in rows], [c.split for c in rows]):
        by_group: dict[str, Any] = {}
        for context, value in zip(rows, values, strict=True):
            assert by_group.setdefault(context.group, value) == value
    # Gold unseen: the fold that samples for a context holds every caption of its group.
    for group, fold in zip(corpus.groups, corpus.folds, strict=True):
        mine = corpus.caption_groups == corpus.group_names.index(group)
        assert mine.any() and (corpus.caption_folds[mine] == fold).all()


@pytest.fixture(scope="module")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    yield tmp_path_factory.mktemp("scratch")


_NUMBER = itertools.count()


@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.tuples(_DOCUMENTS, _DOCUMENTS), st.integers(1, 3), st.integers(0, 4))
def test_any_captions_add_up_in_any_order(
    scratch: Path,
    sources: tuple[dict[str, list[str]], dict[str, list[str]]],
    min_count: int,
    max_contexts: int,
) -> None:
    chosen = recipe(min_count=min_count, max_contexts=max_contexts, min_context_tokens=1)
    results = []
    for order in ((0, 1), (1, 0)):
        with Project.create(scratch / f"{next(_NUMBER)}.swag", chosen) as project:
            for i in order:
                bring_in(project, f"source{i}", sources[i])
            try:
                corpus, artifact, _ = run(project, chosen)
            except StageError as error:
                results.append(str(error))
                continue
            _assert_adds_up(project, artifact, corpus)
            _assert_resolved(contexts(project, artifact))
            assert len(corpus.context_ids) == min(
                max_contexts or 10**6, len(contexts(project, artifact))
            )
            results.append((_files(project, artifact), contexts(project, artifact)))
    assert results[0] == results[1]


def _assert_resolved(rows: list[Context]) -> None:
    seen = Counter((folded(c.sent1), folded(c.sent2)) for c in rows)
    assert set(seen.values()) <= {1}


def _candidate(number: int, s: str, n: str, v: str, own: bool) -> Candidate:
    line = Line("source", f"d{number}", f"g{number % 3}", "v", 1, None, None, 0)
    return Candidate.of((line, line), 1, (s, n, v), own)


@given(
    st.lists(
        st.tuples(
            *[st.sampled_from(["a", "A ", "b"])] * 3, st.integers(0, 9).map(lambda i: i == 0)
        ),
        max_size=10,
    )
)
def test_equal_contexts_by_brute_force(rows: list[tuple[str, str, str, bool]]) -> None:
    candidates = [_candidate(i, *row) for i, row in enumerate(rows)]
    kept, dropped = pairs.resolve(candidates)

    def beginning(c: Candidate) -> tuple[str, str]:
        return folded(c.sent1), folded(c.sent2)

    expected = []
    for c in candidates:
        rivals = [r for r in candidates if beginning(r) == beginning(c)]
        first = min(rivals, key=lambda r: (not r.own, r.id, r.second.document))
        if c is first:
            expected.append(c)
    assert kept == sorted(expected, key=lambda c: c.id)
    assert len(dropped) == len(candidates) - len(kept)
    different = {(*beginning(c), folded(c.found)) for c in candidates}
    duplicates = sum(r.reason == "duplicate_pair" for r in dropped)
    assert duplicates == len(candidates) - len(different)
    assert pairs.resolve(reversed(candidates)) == (kept, dropped)


def test_masks_by_brute_force() -> None:
    rng = np.random.default_rng(3)
    sequences = [rng.integers(0, 12, rng.integers(0, 6)).tolist() for _ in range(40)]
    folds = rng.integers(0, 3, 40).astype(np.uint8)
    found = masks(Ragged.of(sequences), folds, 12, 4, 3)
    for fold, word in itertools.product(range(3), range(12)):
        seen = sum(s.count(word) for s, f in zip(sequences, folds, strict=True) if f != fold)
        assert found[fold, word] == (word >= len(SPECIALS) and seen < 4)
    assert found.any() and not found.all()


def test_a_found_ending_that_its_fold_cannot_make_is_dropped(project: Project) -> None:
    # Two groups are two folds, each trained on the other group's words only.
    bring_in(
        project,
        "s",
        {
            "one": ["A dog runs away.", "A dog eats."],
            "two": ["A dog eats an apple.", "A zebra eats an apple."],
        },
    )
    _, artifact, _ = run(project, recipe())
    assert [(c.document, c.found) for c in contexts(project, artifact)] == [("one", "dog eats.")]
    assert reasons(project, artifact) == {"unknown_word": 1}


# --- groups ----------------------------------------------------------------------------------


@given(st.dictionaries(st.text(max_size=4), st.integers(0, 30), min_size=3), st.integers(0, 99))
def test_folds_are_balanced(sizes: dict[str, int], seed: int) -> None:
    folds = grouping.folds(seed, sizes, 3)
    totals = [sum(max(1, n) for g, n in sizes.items() if folds[g] == f) for f in range(3)]
    assert max(totals) - min(totals) <= max(1, *sizes.values())
    assert folds == grouping.folds(seed, dict(reversed(sizes.items())), 3)


def test_splits_have_their_shares_and_depend_on_the_group_alone() -> None:
    splits = Counter(grouping.split(7, f"group {i}", 0.225, 0.1) for i in range(20_000))
    # Three standard deviations of a binomial share at n = 20,000 are below 0.011.
    for split, share in ((0, 0.675), (1, 0.225), (2, 0.1)):
        assert abs(splits[split] / 20_000 - share) < 0.011
    assert {grouping.split(7, f"group {i}", 0.0, 0.0) for i in range(50)} == {0}
    assert grouping.split(1, "g", 0.3, 0.3) == grouping.split(1, "g", 0.3, 0.3)


@given(st.dictionaries(st.integers(0, 99).map(str), st.sampled_from("abcdef")), st.integers(0, 20))
def test_a_sample_takes_whole_groups_but_one(members: dict[str, str], most: int) -> None:
    chosen = grouping.sample(5, list(members.items()), most)
    assert len(chosen) == min(most or len(members), len(members))
    sizes, taken = Counter(members.values()), Counter(members[id] for id in chosen)
    assert sum(0 < taken[g] < sizes[g] for g in sizes) <= 1
    assert chosen == grouping.sample(5, list(members.items())[::-1], most)


def test_the_language_models_train_on_what_the_sample_leaves(project: Project) -> None:
    bring_in(project, "s", PLAIN)
    corpus, artifact, _ = run(project, recipe(max_contexts=1))
    assert [c.selected for c in contexts(project, artifact)].count(True) == 1
    assert (len(corpus.context_ids), len(corpus.captions)) == (1, 5)


# --- own contexts ----------------------------------------------------------------------------


def _own(name: str, s: str, n: str, v: str, endings: Sequence[str] = ("a b.",)) -> OwnContext:
    return OwnContext(name, name, s, n, v, tuple(endings))


JAPANESE = _own("ja", " 男が店に入る。", "彼は", "本を 買う。\n", ["水を飲む。"])


def test_own_contexts_are_shown_as_given(project: Project) -> None:
    bring_in(project, "s", PLAIN, [JAPANESE, _own("en", "He  WAITS .", "x", "goes Home")])
    corpus, artifact, _ = run(project, recipe())
    own = {c.group: c for c in contexts(project, artifact) if c.origin == "own"}
    assert (own["ja"].sent1, own["ja"].sent2, own["ja"].found) == (
        "男が店に入る。",
        "彼は",
        "本を 買う。",
    )
    assert (own["en"].sent1, own["en"].sent2, own["en"].found) == ("He  WAITS .", "x", "goes Home")
    at = corpus.groups.index("ja")
    maker = TextMaker(corpus.vocabulary)
    assert maker.tokens(corpus.s[at]) == list("男が店に入る。")
    assert maker.tokens(corpus.n[at]) == list("彼は")
    assert maker.tokens(corpus.v[at]) == list("本を買う。")
    assert corpus.own.tolist() == [g in ("ja", "en") for g in corpus.groups]


def test_own_contexts_are_two_captions_in_one_chain(project: Project) -> None:
    bring_in(project, "s", PLAIN, [JAPANESE])
    corpus, _, _ = run(project, recipe())
    assert corpus.caption_chains.tolist() == [0, 0, 0, 1, 1, 2, 2]
    maker = TextMaker(corpus.vocabulary)
    assert maker.tokens(corpus.captions[6]) == list("彼は本を買う。")


def test_words_of_own_endings_are_known_to_the_project_and_to_no_model(project: Project) -> None:
    bring_in(project, "s", PLAIN, [JAPANESE])
    corpus, _, _ = run(project, recipe())
    word = corpus.vocabulary.tokens.index("飲")
    assert corpus.masked[:, word].all()


def test_own_contexts_meet_no_filter_but_length_and_emptiness(project: Project) -> None:
    long = " ".join(["word"] * 26)
    bring_in(
        project,
        "s",
        {},
        [
            _own("fine", "a", "b", "unheard-of"),
            _own("fine too", "a c", "x", "unheard-of"),
            _own("empty", "a", " ", "c"),
            _own("long", "a", "b", long),
            _own("phrase", "a", "word " * 300, "b"),
            _own("again", "A", "b", "Unheard-of"),
        ],
    )
    corpus, artifact, _ = run(project, recipe(min_context_tokens=6, min_ending_tokens=5))
    groups = {c.group for c in contexts(project, artifact)}
    assert groups in ({"fine", "fine too"}, {"again", "fine too"})
    assert reasons(project, artifact) == {
        "duplicate_pair": 1,
        "empty_part": 1,
        "ending_too_long": 1,
        "phrase_too_long": 1,
    }
    _assert_adds_up(project, artifact, corpus)


def test_an_own_context_goes_before_its_twin_from_captions(project: Project) -> None:
    bring_in(project, "s", PLAIN, [_own("z", "A dog runs away.", "A", "cat sits on it.")])
    make_known(project, PLAIN)
    _, artifact, _ = run(project, recipe())
    rows = [c for c in contexts(project, artifact) if c.sent1 == "A dog runs away."]
    assert [(c.origin, c.group) for c in rows] == [("own", "z")]
    assert reasons(project, artifact) == {"duplicate_pair": 1}


# --- telling ---------------------------------------------------------------------------------


def test_progress_counts_up_to_its_total(project: Project) -> None:
    bring_in(project, "s", PLAIN)
    make_known(project, PLAIN)
    _, _, events = run(project, recipe())
    last = {e.unit: e for e in events if isinstance(e, Progress)}
    for unit, total in (("captions", 16), ("sentences", 3), ("rows", 3)):
        assert (last[unit].done, last[unit].total) == (total, total)


def test_what_a_curator_should_know(project: Project) -> None:
    bring_in(
        project,
        "s",
        {**PLAIN, "odd": ["?", "*"], "x": ["A dog runs away.", "A zebra eats.", "B zebra eats."]},
    )
    make_known(project, PLAIN)
    _, _, events = run(project, recipe())
    texts = [e.text for e in events if isinstance(e, Message) and e.level == "warning"]
    assert any("2 captions hold no words" in text for text in texts)
    assert any("found endings hold a word" in text for text in texts)


def test_the_summary_is_json(project: Project) -> None:
    bring_in(project, "s", PLAIN)
    _, artifact, events = run(project, recipe())
    assert isinstance(events[-1], Finished)
    kept = dict(artifact.summary)
    assert kept.pop(SUMS).keys() == {"corpus.safetensors", "ids.json", "vocabulary.json"}
    assert json.loads(json.dumps(events[-1].summary)) == kept


# --- real captions ---------------------------------------------------------------------------


def test_real_captions(project: Project, real_data: Path) -> None:
    data = json.loads((real_data / "activitynet_captions" / "val_1.json").read_text("utf-8"))
    documents: dict[str, Document] = {}
    for name, video in itertools.islice(sorted(data.items()), 50):
        order = sorted(range(len(video["timestamps"])), key=lambda i: video["timestamps"][i][0])
        documents[name] = [(video["sentences"][i], *video["timestamps"][i]) for i in order]
    bring_in(project, "s", documents)
    chosen = recipe(splitter="spacy", min_context_tokens=6, min_ending_tokens=5)
    make_known(project, documents)
    corpus, artifact, _ = run(project, chosen)
    _assert_adds_up(project, artifact, corpus)
    rows = contexts(project, artifact)
    assert len(rows) > 70
    for c in rows:
        assert c.sent2[0] == c.sent2[0].upper()
        assert c.found[-1] in ".!?" and c.found[0] == c.found[0].lower()
        assert tokens_of(f"{c.sent2} {c.found}")[: len(tokens_of(c.sent2))] == tokens_of(c.sent2)


def test_left_out_rows_lead_back_to_the_caption(project: Project) -> None:
    bring_in(project, "s", {**PLAIN, "short": ["A dog runs away.", "Hi."]})
    make_known(project, PLAIN)
    _, artifact, _ = run(project, recipe())
    row = next(iter(project.store.dropped_pairs(artifact.version)))
    assert isinstance(row, LeftOut)
    caption = project.store.caption(row.place, row.document, row.position)
    assert caption is not None and caption.text == "Hi."
