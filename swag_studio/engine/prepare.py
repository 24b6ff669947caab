"""The stage "prepare": captions become contexts with folds and splits, and one vocabulary.

Captions are cleaned and tokenised, neighbours are paired, the second sentence is cut after its
noun phrase, and every pair that is not used gets a reason. Nothing is random but by keyed hashes,
so the order of import does not matter. An interrupted run starts over: it is minutes at most.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from swag_studio.connections import sliced
from swag_studio.engine import grouping, pairs
from swag_studio.engine.cleaning import clean
from swag_studio.engine.corpus import Corpus, Ragged
from swag_studio.engine.pairs import Candidate, Line, Pair
from swag_studio.engine.registry import SPLITTERS
from swag_studio.engine.splitters import Splitter
from swag_studio.engine.text import plain, tokenise, tokens_of, write
from swag_studio.engine.vocabulary import TokenTable, Words, build, holds_masked, masks
from swag_studio.errors import StageError
from swag_studio.events import Changed, Event, Finished, Message, Progress
from swag_studio.project import Project
from swag_studio.recipe import Recipe
from swag_studio.records import SPLITS, Caption, Context, LeftOut
from swag_studio.store import Store

STAGE = "prepare"
READ_SLICE = 250  # captions between two events
WRITE_SLICE = 1000  # rows between two events

Cut = tuple[Pair, int]  # a pair, and the tokens of its second sentence's noun phrase
OwnCut = tuple[Pair, int, tuple[str, str, str]]  # with sent1, sent2, found as given


@dataclass
class _State:
    """What a run has found so far. The table's rows are the captions of the language models."""

    recipe: Recipe
    table: TokenTable = field(default_factory=TokenTable)
    groups: list[str] = field(default_factory=list)  # of each row
    chains: list[int] = field(default_factory=list)  # of each row
    edits: Counter[str] = field(default_factory=Counter)
    unusable: Counter[str] = field(default_factory=Counter)
    captions: int = 0
    pairs: int = 0
    dropped: list[LeftOut] = field(default_factory=list)

    def add(self, tokens: Sequence[str], group: str, *, linked: bool) -> int:
        """A row for a caption; `linked` to the row before it, or the first of a new chain."""
        last = self.chains[-1] if self.chains else -1
        self.chains.append(last if linked else last + 1)
        self.groups.append(group)
        return self.table.add(tokens)


def run(recipe: Recipe, project: Project) -> Iterator[Event]:
    """Runs the stage. Raises StageError when no context is left."""
    artifact = project.begin(STAGE, recipe)
    if artifact.done:
        return
    yield Progress(STAGE, 0, 0, "captions", "loading the splitter")
    splitter: Splitter = SPLITTERS[recipe.prepare.splitter]()
    state = _State(recipe)
    fitting = yield from _read(state, project.store)
    own, own_endings = yield from _read_own(state, project.store)
    if not state.captions and not state.pairs:
        raise StageError("The project holds no captions. Import some first: swag-studio import")
    cuts = yield from _split(state, splitter, fitting)
    words = build(state.table, own_endings, recipe.prepare.min_count)
    yield Progress(STAGE, 0, len(cuts), "contexts")
    folds = grouping.folds(recipe.run.seed, Counter(state.groups), recipe.prepare.folds)
    captions = _Captions.of(state, words, folds)
    candidates = yield from _candidates(state, words, captions, cuts)
    candidates += [Candidate.of(pair, cut, texts, own=True) for pair, cut, texts in own]
    yield Progress(STAGE, 0, len(candidates), "contexts", "comparing")
    kept, equal = pairs.resolve(candidates)
    state.dropped += equal
    if not kept:
        raise StageError(_none_left(state))
    yield Progress(STAGE, len(kept), len(candidates), "contexts", "comparing")
    contexts = _contexts(kept, recipe, folds)
    corpus = _corpus(words, captions, kept, contexts)
    yield Progress(STAGE, len(kept), len(kept), "contexts", "saving")
    corpus.save(project.folder(artifact))
    yield from _store(state, project.store, artifact.version, contexts)
    summary = _summary(state, words, corpus, contexts)
    yield from _messages(summary)
    artifact = project.finish(artifact, summary)
    yield Finished(STAGE, summary)


# --- reading ---------------------------------------------------------------------------------


def _read(state: _State, store: Store) -> Generator[Event, None, list[Pair]]:
    """Cleans, tokenises and pairs all captions; returns the pairs that are worth a parse."""
    total = sum(source.captions for source in store.sources())
    fitting: list[Pair] = []
    before: Line | None = None
    for part in sliced(store.captions(), READ_SLICE):
        for source, caption in part:
            tokens = _tokens(state, caption)
            line = _line(source, caption, len(state.table) if tokens else -1)
            pair = (before, line) if before is not None and line.follows(before) else None
            reason = pairs.unlinked(pair, state.recipe.prepare.max_gap) if pair else ""
            if tokens:
                state.add(tokens, line.group, linked=pair is not None and not reason)
            if pair:
                state.pairs += 1
                reason = reason or _unfit(state, pair)
                if reason:
                    state.dropped.append(line.left_out(reason))
                else:
                    fitting.append(pair)
            before = line
        state.captions += len(part)
        yield Progress(STAGE, state.captions, total, "captions")
    return fitting


def _tokens(state: _State, caption: Caption) -> list[str]:
    """The cleaned caption's tokens, cased as written; none if it is unusable."""
    cleaned = clean(caption.text)
    state.edits.update(cleaned.edits)
    if cleaned.reason:
        state.unusable[cleaned.reason] += 1
        return []
    return tokenise(cleaned.text)


def _line(source: str, c: Caption, row: int) -> Line:
    return Line(source, c.document, c.group, c.video_id, c.position, c.start, c.end, row)


def _unfit(state: _State, pair: Pair) -> str:
    first, second = (state.table.tokens(line.row) for line in pair)
    return pairs.unfit(first, second, state.recipe.prepare)


def _read_own(
    state: _State, store: Store
) -> Generator[Event, None, tuple[list[OwnCut], Counter[str]]]:
    """Own contexts as pairs that are cut already, and the words of their endings, counted.

    They skip the splitter and the filters, but for a found ending that no candidate could match
    in length, and for parts that are empty.
    """
    total = sum(source.own_contexts for source in store.sources())
    cuts: list[OwnCut] = []
    words: Counter[str] = Counter()
    for part in sliced(store.own_contexts(), READ_SLICE // 25):
        for source, own in part:
            state.pairs += 1
            s, n, v = (tokenise(plain(text)) for text in (own.sent1, own.sent2, own.found))
            reason = pairs.own_unfit(s, n, v, state.recipe.prepare)
            row = -1 if reason else len(state.table)
            first = Line(source, own.document, own.group, own.group, 0, None, None, row)
            second = replace(first, row=row + 1)
            if reason:
                state.dropped.append(second.left_out(reason))
                continue
            state.add(s, own.group, linked=False)
            state.add(n + v, own.group, linked=True)
            texts = (own.sent1.strip(), own.sent2.strip(), own.found.strip())
            cuts.append(((first, second), len(n), texts))
            for ending in own.endings:
                words.update(tokens_of(ending))
        yield Progress(STAGE, len(cuts), total, "own contexts")
    return cuts, words


# --- cutting ---------------------------------------------------------------------------------


def _split(
    state: _State, splitter: Splitter, fitting: list[Pair]
) -> Generator[Event, None, list[Cut]]:
    """The pairs whose second sentence could be cut well, with the place."""
    cuts: list[Cut] = []
    done = 0
    for part in sliced(fitting, splitter.batch):
        sentences = [state.table.tokens(second.row) for _, second in part]
        for pair, tokens, cut in zip(part, sentences, splitter.split(sentences), strict=True):
            reason = (
                cut if isinstance(cut, str) else pairs.badly_cut(tokens, cut, state.recipe.prepare)
            )
            if isinstance(cut, str) or reason:
                state.dropped.append(pair[1].left_out(reason))
            else:
                cuts.append((pair, cut))
        done += len(part)
        yield Progress(STAGE, done, len(fitting), "sentences")
    return cuts


def _candidates(
    state: _State, words: Words, captions: _Captions, cuts: list[Cut]
) -> Generator[Event, None, list[Candidate]]:
    """The cut pairs as shown text; dropped where a fold could not make the found ending."""
    cased = words.vocabulary.cased
    candidates: list[Candidate] = []
    for number, (pair, cut) in enumerate(cuts):
        second = pair[1]
        fold = captions.folds[second.row]
        if holds_masked(words.sequences[second.row][cut:], captions.masked[fold]):
            state.dropped.append(second.left_out("unknown_word"))
        else:
            s, nv = ([t.lower() for t in state.table.tokens(line.row)] for line in pair)
            texts = (
                write(s, cased, sentence=True),
                write(nv[:cut], cased, sentence=True),
                write(nv[cut:], cased, sentence=False),
            )
            candidates.append(Candidate.of(pair, cut, texts, own=False))
        if number % WRITE_SLICE == 0:
            yield Progress(STAGE, number, len(cuts), "contexts")
    return candidates


# --- writing ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Captions:
    """The captions of the language models, as in Corpus."""

    chains: NDArray[np.int32]
    folds: NDArray[np.uint8]
    groups: NDArray[np.int32]
    group_names: tuple[str, ...]
    masked: NDArray[np.bool_]

    @classmethod
    def of(cls, state: _State, words: Words, folds: Mapping[str, int]) -> _Captions:
        names = tuple(sorted(folds))
        index = {name: i for i, name in enumerate(names)}
        p = state.recipe.prepare
        row_folds = np.array([folds[g] for g in state.groups], np.uint8)
        return cls(
            chains=np.array(state.chains, np.int32),
            folds=row_folds,
            groups=np.array([index[g] for g in state.groups], np.int32),
            group_names=names,
            masked=masks(words.sequences, row_folds, len(words.vocabulary), p.min_count, p.folds),
        )


def _contexts(kept: list[Candidate], recipe: Recipe, folds: Mapping[str, int]) -> list[Context]:
    """The records, by id, with fold, split and whether the sample takes them."""
    p, seed = recipe.prepare, recipe.run.seed
    chosen = grouping.sample(seed, [(c.id, c.second.group) for c in kept], p.max_contexts)
    splits = {g: SPLITS[grouping.split(seed, g, p.val_share, p.test_share)] for g in folds}
    return [
        Context(
            id=c.id,
            group=c.second.group,
            video_id=c.second.video_id,
            source_id=c.second.source,
            document=c.second.document,
            position=c.second.position,
            sent1=c.sent1,
            sent2=c.sent2,
            found=c.found,
            fold=folds[c.second.group],
            split=splits[c.second.group],
            origin="own" if c.own else "captions",
            selected=c.id in chosen,
        )
        for c in kept
    ]


def _corpus(
    words: Words, captions: _Captions, kept: list[Candidate], contexts: list[Context]
) -> Corpus:
    """The arrays: selected contexts, all captions."""
    both = [(c, x) for c, x in zip(kept, contexts, strict=True) if x.selected]
    seconds = [words.sequences[c.second.row] for c, _ in both]
    return Corpus(
        vocabulary=words.vocabulary,
        context_ids=tuple(x.id for _, x in both),
        groups=tuple(x.group for _, x in both),
        folds=np.array([x.fold for _, x in both], np.uint8),
        splits=np.array([SPLITS.index(x.split) for _, x in both], np.uint8),
        own=np.array([c.own for c, _ in both], np.bool_),
        s=Ragged.of(words.sequences[c.first.row] for c, _ in both),
        n=Ragged.of(nv[: c.cut] for nv, (c, _) in zip(seconds, both, strict=True)),
        v=Ragged.of(nv[c.cut :] for nv, (c, _) in zip(seconds, both, strict=True)),
        captions=words.sequences,
        caption_chains=captions.chains,
        caption_folds=captions.folds,
        caption_groups=captions.groups,
        group_names=captions.group_names,
        masked=captions.masked,
    )


def _store(
    state: _State, store: Store, version: int, contexts: list[Context]
) -> Generator[Event, None, None]:
    """Writes the rows; they are seen once the version is done."""
    store.clear_contexts(version)
    total = len(contexts) + len(state.dropped)
    done = 0
    for rows in sliced(contexts, WRITE_SLICE):
        store.add_contexts(version, rows)
        done += len(rows)
        yield Progress(STAGE, done, total, "rows")
    order = sorted(state.dropped, key=lambda r: (r.place, r.document, r.position, r.reason))
    for left_out in sliced(order, WRITE_SLICE):
        store.add_dropped_pairs(version, left_out)
        done += len(left_out)
        yield Progress(STAGE, done, total, "rows")
    yield Changed(("contexts", "dropped_pairs"))


# --- telling ---------------------------------------------------------------------------------


def _reasons(state: _State) -> dict[str, int]:
    """Reason -> dropped pairs, most frequent first."""
    counts = Counter(row.reason for row in state.dropped)
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def _summary(
    state: _State, words: Words, corpus: Corpus, contexts: list[Context]
) -> dict[str, object]:
    """Counts and shares, JSON-ready. `pairs` = `contexts` + the sum of `dropped`."""
    folds = Counter(str(c.fold) for c in contexts if c.selected)
    splits = Counter(c.split for c in contexts if c.selected)
    return {
        "captions": state.captions,
        "unusable_captions": dict(sorted(state.unusable.items())),
        "edits": dict(sorted(state.edits.items())),
        "pairs": state.pairs,
        "dropped": _reasons(state),
        "contexts": len(contexts),
        "own_contexts": sum(c.origin == "own" for c in contexts),
        "selected": len(corpus.context_ids),
        "folds": {str(f): folds[str(f)] for f in range(corpus.n_folds)},
        "splits": {name: splits[name] for name in SPLITS},
        "groups": len(corpus.group_names),
        "vocabulary": len(words.vocabulary),
        "known_tokens": round(words.known_share, 4),
    }


def _none_left(state: _State) -> str:
    reasons = _reasons(state)
    if not reasons:
        return (
            f"No context can be made: {state.captions} captions hold no two that follow each "
            "other in one document. Import captions that come in sequences."
        )
    reason, count = next(iter(reasons.items()))
    return (
        f"No context is left of {state.pairs} pairs of captions; most, {count}, were dropped as "
        f"{reason}. Change the recipe's prepare section, or import more captions."
    )


def _messages(summary: Mapping[str, Any]) -> Iterator[Event]:
    """What a curator should know about the result."""
    dropped = ", ".join(f"{n} {reason}" for reason, n in summary["dropped"].items())
    yield Message(
        STAGE,
        f"{summary['contexts']} contexts of {summary['pairs']} pairs; {summary['selected']} go on.",
        detail=f"Dropped: {dropped}." if dropped else "",
    )
    if unusable := sum(summary["unusable_captions"].values()):
        yield Message(STAGE, f"{unusable} captions hold no words and were not used.", "warning")
    if summary["known_tokens"] < 0.9:
        yield Message(
            STAGE,
            f"Only {summary['known_tokens']:.0%} of the words are known to the vocabulary: the "
            "captions are few for prepare.min_count.",
            "warning",
        )
    unknown = summary["dropped"].get("unknown_word", 0)
    if unknown > 0.2 * summary["pairs"]:
        yield Message(
            STAGE,
            f"{unknown} found endings hold a word that their fold's language model would not know. "
            "More captions, more folds or a lower prepare.min_count keep more of them.",
            "warning",
        )
    for what in ("folds", "splits"):
        if empty := [name for name, n in summary[what].items() if not n]:
            yield Message(STAGE, f"No context in {what}: {', '.join(empty)}.", "warning")
