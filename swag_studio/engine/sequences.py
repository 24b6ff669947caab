"""What a language model reads: windows of captions for each fold, and sequences of plain text.

It knows the corpus and text files, not models or training. A sequence is token ids without BOS
and EOS: two captions that follow each other (s, then n and v), since candidates are sampled and
scored with s before them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from swag_studio.engine.corpus import UNK, Corpus, Ids
from swag_studio.engine.runtime import seed_for
from swag_studio.engine.text import SENTENCE_STOPS, encode, tokens_of
from swag_studio.errors import StageError
from swag_studio.outside import texts

LONGEST = 256  # tokens; what is longer is read in pieces
LONGEST_SENTENCE = 100  # tokens of plain text after which a sentence ends without a stop


# --- captions --------------------------------------------------------------------------------


@dataclass(frozen=True)
class FoldCaptions:
    """The captions of one fold's model, told apart by group."""

    train: NDArray[np.bool_]  # (captions,)
    dev: NDArray[np.bool_]  # (captions,) inner development set: decides when to stop
    held_out: NDArray[np.bool_]  # (captions,) the fold itself: never trained on, never chosen by
    groups_compared: int  # groups of the fold's contexts and captions, none of them seen


def fold_captions(corpus: Corpus, fold: int, dev_share: float, seed: int) -> FoldCaptions:
    """Divides the captions for the model of `fold`.

    A group of the other folds is in the development set when its keyed hash says so, so that the
    set does not depend on what else is imported. At least one group is in it and one is not.
    Raises StageError when the other folds hold fewer than two groups.
    """
    held_out = corpus.caption_folds == fold
    others = np.unique(corpus.caption_groups[~held_out])
    if len(others) < 2:
        raise StageError(
            f"The captions outside fold {fold} come from {len(others)} groups (videos or movies): "
            "its language model needs two at least. Raise prepare.folds or import more captions."
        )
    hashes = {int(g): seed_for(seed, "dev", fold, corpus.group_names[g]) / 2**63 for g in others}
    ranked = sorted(hashes, key=hashes.__getitem__)
    count = sum(hashes[g] < dev_share for g in ranked)
    dev_groups = ranked[: min(max(count, 1), len(others) - 1)]
    dev = np.isin(corpus.caption_groups, dev_groups) & ~held_out
    train = ~dev & ~held_out
    return FoldCaptions(train, dev, held_out, _compared(corpus, fold, train | dev))


def _compared(corpus: Corpus, fold: int, seen: NDArray[np.bool_]) -> int:
    """How many groups are held out; none of them may be among those seen.

    By group and not by sentence: one sentence can occur in two videos.
    """
    seen_groups = {corpus.group_names[g] for g in np.unique(corpus.caption_groups[seen])}
    held_out = {g for g, f in zip(corpus.groups, corpus.folds, strict=True) if f == fold}
    held_out |= {
        corpus.group_names[g]
        for g in np.unique(corpus.caption_groups[corpus.caption_folds == fold])
    }
    if both := seen_groups & held_out:
        raise RuntimeError(f"the model of fold {fold} would see {len(both)} groups of its own fold")
    return len(held_out)


def known_ids(corpus: Corpus, fold: int) -> Ids:
    """(V,) what the fold's model reads for each id: the id itself, or UNK for a masked word."""
    ids = np.arange(len(corpus.vocabulary), dtype=np.uint16)
    ids[corpus.masked[fold]] = UNK
    return ids


def windows(corpus: Corpus, chosen: NDArray[np.bool_], known: Ids, parity: int) -> list[Ids]:
    """Pairs of captions that follow each other, each chosen caption once.

    Parity 0 pairs a chain's captions (0, 1), (2, 3) ...; parity 1 leaves 0 by itself and pairs
    (1, 2), (3, 4) ... What remains at the end of a chain is a window by itself.
    """
    index = np.flatnonzero(chosen)
    chains, offsets = corpus.caption_chains, corpus.captions.offsets
    values = known[corpus.captions.values]
    result: list[Ids] = []
    position = 0
    for k, i in enumerate(index):
        continues = k > 0 and index[k - 1] == i - 1 and chains[i - 1] == chains[i]
        position = position + 1 if continues else 0
        piece = values[offsets[i] : offsets[i + 1]]
        if continues and (position + parity) % 2 == 1:
            result[-1] = np.concatenate([result[-1], piece])
        else:
            result.append(piece)
    return [
        window[start : start + LONGEST]
        for window in result
        for start in range(0, len(window), LONGEST)
    ]


# --- plain text ------------------------------------------------------------------------------


@dataclass(frozen=True)
class TextFiles:
    """The plain text that the models may be trained on first: *.txt by name, in UTF-8."""

    paths: tuple[Path, ...]
    bytes: int

    @classmethod
    def of(cls, folder: Path) -> TextFiles:
        """Raises StageError when the folder holds no text."""
        paths = texts(folder)
        total = sum(path.stat().st_size for path in paths)
        if not total:
            raise StageError(
                f"{folder} holds no text: lm.pretrain_folder must be a folder with *.txt files in "
                "UTF-8, or empty."
            )
        return cls(paths, total)

    def hashes(self) -> Iterator[str]:
        """The hash of what has been read so far, after each piece; the last one is of all files.

        Names and contents count, the folder's place does not.
        """
        digest = hashlib.sha256()
        for path in self.paths:
            digest.update(f"{path.name}\0{path.stat().st_size}\0".encode())
            with open(path, "rb") as file:
                while piece := file.read(1 << 24):
                    digest.update(piece)
                    yield digest.hexdigest()

    def pools(
        self, index: Mapping[str, int], size: int, start: tuple[int, int] = (0, 0)
    ) -> Iterator[tuple[list[Ids], tuple[int, int]]]:
        """At least `size` sequences at a time (fewer at the end), and where the next ones start.

        A place is (file, byte at the start of a line). A sequence is two sentences that follow
        each other within a paragraph; paragraphs end at blank lines. Words that `index` lacks are
        UNK. Raises StageError where a file is not UTF-8.
        """
        pool: list[Ids] = []
        for number in range(start[0], len(self.paths)):
            path, offset = self.paths[number], start[1] if number == start[0] else 0
            pairs = _Pairs(index)
            with open(path, "rb") as file:
                file.seek(offset)
                for line in file:
                    offset += len(line)
                    try:
                        pool += pairs.add(line.decode("utf-8"))
                    except UnicodeDecodeError as error:
                        raise StageError(
                            f"{path}, byte {offset - len(line) + error.start}: not UTF-8. Save the "
                            "file as UTF-8."
                        ) from None
                    if len(pool) >= size:
                        pool += pairs.flush()
                        yield pool, (number, offset)
                        pool = []
            pool += pairs.flush()
        if pool:
            yield pool, (len(self.paths), 0)


class _Pairs:
    """Collects the sentences of lines in twos."""

    def __init__(self, index: Mapping[str, int]) -> None:
        self._index = index
        self._first: list[str] = []
        self._sentence: list[str] = []

    def add(self, line: str) -> list[Ids]:
        """The sequences that became complete with this line."""
        tokens = tokens_of(line)
        if not tokens:
            return self.flush()
        done = []
        for token in tokens:
            self._sentence.append(token)
            if token in SENTENCE_STOPS or len(self._sentence) >= LONGEST_SENTENCE:
                if self._first:
                    done.append(encode(self._first + self._sentence, self._index))
                    self._first = []
                else:
                    self._first = self._sentence
                self._sentence = []
        return done

    def flush(self) -> list[Ids]:
        """What is left at the end of a paragraph."""
        rest, self._first, self._sentence = self._first + self._sentence, [], []
        return [encode(rest, self._index)] if rest else []
