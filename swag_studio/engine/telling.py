"""What each member of an ensemble goes by, told from the contexts that it was tested on.

words     bag of words: what each word adds to the logit. Exact, for the member is linear in them.
ngrams    CNN: what the windows that filters respond to most add to the logit. Exact as well.
tags      POS biLSTM: runs of three symbols, by how far the endings that show them score apart.
features  MLP: how much accuracy is lost when a feature is shuffled among the endings.

A member of another kind is passed over. Nothing here changes a model or a random stream that the
filter goes on with; it knows no files. The same arguments give the same evidence, to the bit.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Generator
from typing import TypeVar

import numpy as np
import torch
from numpy.typing import NDArray

from swag_studio.engine.clues import (
    SHOWN_CONTEXTS,
    TOP,
    Floats,
    Ints,
    Names,
    Sample,
    Shown,
    Windows,
    short,
    to_numpy,
)
from swag_studio.engine.filter_items import Assigned
from swag_studio.engine.filter_iteration import Note, Tested, noted
from swag_studio.engine.members.base import Member
from swag_studio.engine.members.batches import Batch
from swag_studio.engine.members.bow import BagOfWords
from swag_studio.engine.members.cnn import SIZES, Cnn
from swag_studio.engine.members.mlp import Mlp
from swag_studio.engine.members.pos import PosBiLstm
from swag_studio.engine.runtime import seed_for
from swag_studio.evidence import Clue, Evidence, Kind

MOST_ENDINGS = 10_000  # of tested contexts that are looked at: enough for shares, quickly done
MOST_SHUFFLED = 100  # contexts, of features: each is scored SHUFFLES times per feature
SHUFFLES = 3
# Endings that must show a thing: fewer, and the top is what chance made rare and one-sided.
LEAST = {"words": 3, "ngrams": 2, "tags": 5}
RUN = 3  # symbols of a tag pattern

T = TypeVar("T")
Pausing = Generator[None, None, T]


def tell(
    iteration: int, tested: Tested, assigned: Assigned, names: Names, seed: int
) -> Generator[Note, None, list[Evidence]]:
    """The evidence of each member that has a method, before anything is replaced."""
    network, size = tested.ensemble.network, assigned.rows.shape[1]
    network.eval()
    result = []
    for name, member in network.members.items():
        kind = next((kind for kind, (cls, _) in _TELLERS.items() if isinstance(member, cls)), None)
        if kind is None:
            continue
        rng = np.random.default_rng(seed_for(seed, "telling", name))
        most = MOST_SHUFFLED if kind == "features" else max(1, MOST_ENDINGS // size)
        sample = Sample.draw(name, tested, assigned, names, rng, most)
        clues = yield from noted(_TELLERS[kind][1](sample, rng), f"explaining {name}")
        result.append(Evidence(iteration, name, kind, len(sample.contexts), clues))
    return result


# --- words -----------------------------------------------------------------------------------


def _words(sample: Sample, rng: np.random.Generator) -> Pausing[tuple[Clue, ...]]:
    """Per word its mean addition to the logit over the endings that show it.

    Less the mean over all words of all endings, which says nothing of a word. Ranked by
    |weight| * sqrt(endings): the size of the effect over its standard error, were all words as
    scattered.
    """
    part = sample.part
    assert isinstance(part, BagOfWords)
    with torch.no_grad():
        logits = to_numpy(part.word_logits(sample.head)).astype(np.float64)
    yield
    ending, place = np.nonzero(sample.in_ending)
    words, word = np.unique(sample.tokens[ending, place], return_inverse=True)
    v_lengths = sample.data.host_lengths - sample.n_lengths
    added = logits[words[word]] / v_lengths[ending]
    shown = Shown.of(ending, word, len(words))
    counts = shown.counts
    weight = np.bincount(word, added, len(words)) / counts - added.sum() / counts.sum()
    rank = np.abs(weight) * np.sqrt(counts)
    return shown.clues(
        sample, weight, rank, LEAST["words"], lambda t: sample.names.words[int(words[t])]
    )


# --- windows ---------------------------------------------------------------------------------


def _ngrams(sample: Sample, rng: np.random.Generator) -> Pausing[tuple[Clue, ...]]:
    """Per n-gram what the filters that respond to it most in an ending add to the logit.

    Mean over the endings that show it, 0 in those where all filters respond more to something
    else. Windows that reach into the padding are left out. Ranked as words are.
    """
    added = yield from _added_by_windows(sample)
    tokens = sample.tokens
    made = [Windows.of(sample, tokens, size) for size in SIZES]
    offsets = np.cumsum([0, *(len(w.first) for w in made)])
    yield
    total = np.concatenate(
        [
            np.bincount(w.gram, table[w.ending, w.start], len(w.first))
            for w, table in zip(made, added, strict=True)
        ]
    )
    gram = np.concatenate([w.gram + o for w, o in zip(made, offsets, strict=False)])
    shown = Shown.of(np.concatenate([w.ending for w in made]), gram, len(total))
    counts = shown.counts
    weight = total / counts

    def text(thing: int) -> str:
        at = int(np.searchsorted(offsets, thing, side="right")) - 1
        ids = made[at].symbols(tokens, thing - int(offsets[at]), SIZES[at])
        return " ".join(sample.names.words[i] for i in ids)

    return shown.clues(sample, weight, np.abs(weight) * np.sqrt(counts), LEAST["ngrams"], text)


def _added_by_windows(sample: Sample) -> Pausing[Floats]:
    """(sizes, E, L) what the window at each place adds to the logit, by all filters it is best in.

    Summed on the CPU: on an accelerator the order of such sums, and so their bits, would vary.
    """
    part = sample.part
    assert isinstance(part, Cnn)
    added = np.zeros((len(SIZES), *sample.data.tokens.shape))
    for rows, batch in sample.batches():
        with torch.no_grad():
            best, place = part.responses(batch).max(dim=1)  # (B, width)
            by_filter = (torch.relu(best) * sample.head.weight[0]).cpu().double()
            places = place.cpu()
            for table, values, at in zip(
                added, by_filter.chunk(len(SIZES), 1), places.chunk(len(SIZES), 1), strict=True
            ):
                sums = torch.zeros(batch.inside.shape, dtype=torch.float64)
                table[rows, : sums.shape[1]] = sums.scatter_add_(1, at, values).numpy()
        yield
    return added


# --- tags ------------------------------------------------------------------------------------


def _tags(sample: Sample, rng: np.random.Generator) -> Pausing[tuple[Clue, ...]]:
    """Per run of three symbols (tags, or the words that stay words), how it moves the score.

    The member is not linear, so this is a comparison: the mean score of the endings that show the
    run, less that of those that do not; scores are taken from their context's mean first, since
    all endings of a context share its noun phrase. Ranked by the share of the scores' variance
    that showing it explains, weight^2 * with * without.
    """
    part = sample.part
    assert isinstance(part, PosBiLstm)
    with torch.no_grad():
        symbols = to_numpy(part.symbols(sample.data.batch(np.arange(len(sample.scores)))))
    yield
    table = sample.scores.reshape(-1, sample.size)
    scores = (table - table.mean(axis=1, keepdims=True)).ravel()
    windows = Windows.of(sample, symbols, RUN)
    shown = Shown.of(windows.ending, windows.gram, len(windows.first))
    having = shown.counts
    lacking = len(scores) - having
    total = np.bincount(shown.thing, scores[shown.ending], shown.things)
    weight = total / having - (scores.sum() - total) / np.maximum(lacking, 1)
    names = _symbol_names(part, sample.names)
    return shown.clues(
        sample,
        weight,
        weight**2 * having * lacking,
        LEAST["tags"],
        lambda t: " ".join(names[s] for s in windows.symbols(symbols, t, RUN)),
    )


def _symbol_names(part: PosBiLstm, names: Names) -> dict[int, str]:
    """Tags in brackets, words as they are."""
    word_symbol = to_numpy(part.word_symbol)
    words = {int(word_symbol[i]): names.words[i] for i in np.flatnonzero(word_symbol).tolist()}
    return {i: f"[{tag}]" for i, tag in enumerate(names.tags, 1)} | words


# --- features --------------------------------------------------------------------------------


def _features(sample: Sample, rng: np.random.Generator) -> Pausing[tuple[Clue, ...]]:
    """Per feature the 4-way accuracy that is lost when its values change places at random.

    Among all endings of the sample, found or not, and the mean of `SHUFFLES` draws. The ids are of
    the contexts that lose most. Ranked by the loss; below zero it is noise.
    """
    given = to_numpy(sample.data.features)
    batches = sample.batches()
    before = four_way(_scored(sample, batches, given))
    yield
    clues = []
    for feature, name in enumerate(sample.names.features):
        lost = np.zeros(len(sample.contexts))
        for _ in range(SHUFFLES):
            shuffled = given.copy()
            shuffled[:, feature] = rng.permutation(given[:, feature])
            lost += (before - four_way(_scored(sample, batches, shuffled))) / SHUFFLES
            yield
        most = np.argsort(-lost, kind="stable")[:SHOWN_CONTEXTS]
        found, values = sample.found, given[:, feature].astype(np.float64)
        clues.append(
            Clue(
                name,
                short(lost.mean()),
                short(values[found].mean()),
                short(values[~found].mean()),
                tuple(sample.contexts[place] for place in most if lost[place] > 0),
            )
        )
    return tuple(sorted(clues, key=lambda clue: -clue.weight)[:TOP])


def _scored(
    sample: Sample, batches: list[tuple[Ints, Batch]], features: NDArray[np.float32]
) -> Floats:
    """(C, k + 1) the member's logits with these features (E, F) in place of its own."""
    result = np.empty(len(features))
    with torch.no_grad():
        for rows, batch in batches:
            own = torch.from_numpy(features[rows]).to(batch.tokens.device)
            changed = dataclasses.replace(batch, features=own)
            result[rows] = to_numpy(sample.network.logits_of(sample.member, changed))
    return result.reshape(-1, sample.size)


def four_way(scores: NDArray[np.floating]) -> Floats:
    """(C,) the chance that the found ending wins against 3 of its k distractors, drawn at random.

    `scores` (C, k + 1), the found ending in column 0; a tie of n earns 1/n.
    """
    rivals = scores.shape[1] - 1
    below = (scores[:, 1:] < scores[:, :1]).sum(axis=1)
    equal = (scores[:, 1:] == scores[:, :1]).sum(axis=1)
    won = sum(_choose(equal, n) * _choose(below, 3 - n) / (1 + n) for n in range(4))
    return np.asarray(won / _choose(np.array(rivals), 3), np.float64)


def _choose(n: Ints, k: int) -> Floats:
    """How many ways to choose k of each n, k <= 3."""
    ways = np.ones(n.shape)
    for i in range(k):
        ways = ways * (n - i) / (i + 1)
    return ways


# --- pieces ----------------------------------------------------------------------------------

Teller = Callable[[Sample, np.random.Generator], Pausing[tuple[Clue, ...]]]

_TELLERS: dict[Kind, tuple[type[Member], Teller]] = {
    "words": (BagOfWords, _words),
    "ngrams": (Cnn, _ngrams),
    "tags": (PosBiLstm, _tags),
    "features": (Mlp, _features),
}
