"""What is looked at before a release is written: faults that mislead whoever trains or tests on it.

Pure rules over questions in their final order, in one pass; memory grows by hashes and ids, not
by texts. It knows no folder, format or project. Errors block a release unless they are overridden
in the open; warnings are listed.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from swag_studio.intervals import exact_interval
from swag_studio.records import SPLITS, Question, folded

Level = Literal["error", "warning"]

FIRST_PLACES = 5
FALSE_ALARM = 0.001  # how often labels that are drawn evenly may be called unbalanced, all splits

LONG = 1000  # characters; a caption has a tenth of that

# Beside C0 and C1: soft hyphen, zero width space, word joiner and the invisible operators, line
# ends of Unicode, byte order mark, marks that turn the direction of reading, what is no character,
# and lone surrogates, which no file in UTF-8 can hold. Joiners stay: scripts need them.
_CONTROL = re.compile(
    "[\x00-\x1f\x7f-\x9f\xad\u180e\u200b\u2028-\u202e\u2060-\u2069\ufeff\ufffe\uffff\ud800-\udfff]"
)
# What is not seen is nothing when two texts are compared: Unicode's default ignorable characters.
_UNSEEN = re.compile(
    "[\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\U000e0000-\U000e0fff]"
)

_TEST = re.compile(r"test\b(?: \d+)?")  # what of a place in the test split anyone may read

# kind: level, what is said of one, what is said of more, what to do. In the order of the report.
_RULES: Mapping[str, tuple[Level, str, str, str]] = {
    "duplicate_options": (
        "error",
        "question has a wrong ending twice",
        "questions have a wrong ending twice",
        "Edit one of the two, or leave the context out.",
    ),
    "gold_among_distractors": (
        "error",
        "question has its right or its found ending among the wrong ones",
        "questions have their right or their found ending among the wrong ones",
        "Edit the wrong one, or leave the context out.",
    ),
    "empty_ending": (
        "error",
        "question has an ending without a word",
        "questions have an ending without a word",
        "Edit it, or leave the context out.",
    ),
    "empty_context": (
        "error",
        "question has a context without a word",
        "questions have a context without a word",
        "Nothing can be asked of it: leave the context out.",
    ),
    "label_out_of_range": (
        "error",
        "question has no ending at the place that its label names",
        "questions have no ending at the place that their label names",
        "The files do not belong together: write the release anew.",
    ),
    "gen_outside_train": (
        "error",
        "question of the validation or test set has a generated ending as its right one",
        "questions of the validation or test set have a generated ending as their right one",
        "Such questions are for training only.",
    ),
    "group_in_two_splits": (
        "error",
        "group or video is divided between splits",
        "groups or videos are divided between splits",
        "Splits go by group: see what the sources give as group.",
    ),
    "context_across_splits": (
        "error",
        "context stands in more than one split",
        "contexts stand in more than one split",
        "Leave all but one out.",
    ),
    "label_imbalance": (
        "error",
        "split has a place of the right ending that is too frequent or too rare to be chance",
        "splits have a place of the right ending that is too frequent or too rare to be chance",
        "Guessing by place would earn more than chance: shuffle the endings.",
    ),
    "control_characters": (
        "error",
        "question has control or invisible characters in its text",
        "questions have control or invisible characters in their text",
        "Edit the text, or clean the source.",
    ),
    # Two videos in the same words: a coincidence that some captions in a thousand have.
    "answer_across_splits": (
        "warning",
        "question's found ending can be read in a context of another split",
        "questions' found endings can be read in contexts of another split",
        "A model may know it from there: leave one of the two out.",
    ),
    # Ids of videos tell capitals apart, so these may be two after all.
    "groups_alike": (
        "warning",
        "group is called as one of another split, but for case, width or space",
        "groups are called as one of another split, but for case, width or space",
        "If they are the same video or movie, give them one name in the source.",
    ),
    "stray_space": (
        "warning",
        "question has stray white space in its text",
        "questions have stray white space in their text",
        "A space too many, or at an end, can give an ending away.",
    ),
    "long_text": (
        "warning",
        f"question has a text of more than {LONG:,} characters",
        f"questions have a text of more than {LONG:,} characters",
        "A model or an annotator may see a part of it only.",
    ),
}
KINDS = tuple(_RULES)
ERRORS = tuple(kind for kind, rule in _RULES.items() if rule[0] == "error")


@dataclass(frozen=True, slots=True)
class Problem:
    """One kind of fault. `count` is of what the sentence names: questions, groups, contexts ...

    `places` are the first ones, as "train 12, CONTEXT ID": row 12 of train.csv, counted from 0.
    """

    kind: str
    level: Level
    count: int
    sentence: str
    places: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """As JSON holds it, for those who have the project."""
        return {
            "kind": self.kind,
            "level": self.level,
            "count": self.count,
            "sentence": self.sentence,
            "places": list(self.places),
        }

    def public(self) -> dict[str, Any]:
        """As the manifest holds it: of the test split nothing that follows from a right ending."""
        return self.to_dict() | {"places": [*map(_public, self.places)]}


@dataclass(frozen=True, slots=True)
class Report:
    """What the checks found. `continued` counts what is normal, so it is no problem: questions
    whose found ending goes on as the context of another question of the same split. `continued_in`
    has them by split."""

    questions: int
    problems: tuple[Problem, ...]
    continued: int
    continued_in: Mapping[str, int] = field(default_factory=dict)

    @property
    def errors(self) -> tuple[Problem, ...]:
        """The problems that block a release."""
        return tuple(p for p in self.problems if p.level == "error")

    @property
    def warnings(self) -> tuple[Problem, ...]:
        """The problems that are only listed."""
        return tuple(p for p in self.problems if p.level == "warning")

    def to_dict(self) -> dict[str, Any]:
        """As JSON holds it, for those who have the project."""
        return self._told([p.to_dict() for p in self.problems])

    def public(self) -> dict[str, Any]:
        """As the manifest holds it, which whoever takes the test may read."""
        return self._told([p.public() for p in self.problems])

    def _told(self, problems: list[dict[str, Any]]) -> dict[str, Any]:
        return {
            "questions": self.questions,
            "continued": self.continued,
            "continued_in": dict(self.continued_in),
            "problems": problems,
        }


def check(questions: Iterable[Question]) -> Report:
    """All checks over the questions of all splits, in their final order."""
    checks = ReleaseChecks()
    for question in questions:
        checks.add(question)
    return checks.report()


class ReleaseChecks:
    """The checks while questions pass by: `add` each, then ask for the `report`."""

    def __init__(self) -> None:
        self._rows: Counter[str] = Counter()  # split -> questions
        self._labels: dict[str, Counter[int]] = {}  # split -> place of the right ending -> count
        self._most_options: Counter[str] = Counter()
        self._counts: Counter[str] = Counter()  # kind -> faults
        self._places: dict[str, list[str]] = {}
        self._groups, self._names, self._videos = _Seen(), _Seen(), _Seen()
        self._contexts, self._first_sentences = _Seen(), _Seen()
        self._answers: list[tuple[int, str, str]] = []  # hash of the found sentence, split, place

    def add(self, question: Question) -> None:
        """Looks at one question; it and its texts are not kept."""
        split = question.split
        place = f"{split} {self._rows[split]}, {question.context_id}"
        self._rows[split] += 1
        self._labels.setdefault(split, Counter())[question.label] += 1
        self._most_options[split] = max(self._most_options[split], len(question.endings))
        for kind in _faults_alone(question):
            self._note(kind, place)
        self._look_at_groups(question, place)
        # The end of the first sentence is marked, so that no text can move over it.
        context = _hash(f"{_compared(question.sent1)}\n{_compared(question.sent2)}")
        if self._contexts.add(context, split):
            self._note("context_across_splits", place)
        self._first_sentences.add(_unspaced(question.sent1), split)
        if question.gold_source == "gold" and _has_right(question):
            answer = _unspaced(f"{question.sent2} {question.right}")
            self._answers.append((answer, split, place))

    def _look_at_groups(self, question: Question, place: str) -> None:
        """Whether this first shows a group divided, a video whose groups are not, or a name."""
        split, group = question.split, question.group or question.video_id
        exact, video = _hash(group), _hash(question.video_id)
        first = self._groups.add(exact, split)
        others = self._videos.add(video, split), self._names.add(_hash(_compared(group)), split)
        of_video, of_name = (new and not self._groups.divided(exact) for new in others)
        if first or of_video:
            self._note("group_in_two_splits", place)
        if of_name:
            self._note("groups_alike", place)

    def report(self) -> Report:
        """What was found so far."""
        counts, places = self._counts.copy(), {k: list(v) for k, v in self._places.items()}
        continued = Counter[str]()
        for answer, split, place in self._answers:
            continued[split] += self._first_sentences.inside(answer, split)
            if self._first_sentences.outside(answer, split):
                counts["answer_across_splits"] += 1
                places.setdefault("answer_across_splits", []).append(place)
        for place in self._unbalanced():
            counts["label_imbalance"] += 1
            places.setdefault("label_imbalance", []).append(place)
        problems = tuple(_problem(k, counts[k], places[k]) for k in KINDS if counts[k])
        by_split = {split: continued[split] for split in SPLITS}
        return Report(self._rows.total(), problems, continued.total(), by_split)

    def _note(self, kind: str, place: str) -> None:
        self._counts[kind] += 1
        if len(kept := self._places.setdefault(kind, [])) < FIRST_PLACES:
            kept.append(place)

    def _unbalanced(self) -> Iterable[str]:
        """Splits whose labels are no even draw, with the place that shows it most.

        Each place's share is held against its exact interval (Clopper and Pearson), Bonferroni
        over all places of all splits, so that evenly drawn labels are blamed in less than one
        release of a thousand, and balanced ones never.
        """
        tests = sum(self._most_options[split] for split in self._labels)
        for split, labels in self._labels.items():
            n, options = self._rows[split], self._most_options[split]
            for label in sorted(range(options), key=lambda i: (-abs(labels[i] - n / options), i)):
                low, high = exact_interval(labels[label], n, 1 - FALSE_ALARM / tests)
                if not low <= 1 / options <= high:
                    yield f"{split}: ending{label} is right in {labels[label]} of {n}"
                    break


class _Seen:
    """In which splits things were seen: hash -> a bit per split."""

    def __init__(self) -> None:
        self._bits: dict[str, int] = {}
        self._where: dict[int, int] = {}

    def add(self, thing: int, split: str) -> bool:
        """Whether this is what first shows that `thing` is divided between splits."""
        bit = self._bits.setdefault(split, 1 << len(self._bits))
        before = self._where.get(thing, 0)
        self._where[thing] = before | bit
        return before.bit_count() == 1 and before != bit

    def divided(self, thing: int) -> bool:
        """Whether `thing` was seen in more than one split."""
        return self._where.get(thing, 0).bit_count() > 1

    def inside(self, thing: int, split: str) -> bool:
        """Whether `thing` was seen in a split."""
        return bool(self._where.get(thing, 0) & self._bits.get(split, 0))

    def outside(self, thing: int, split: str) -> bool:
        """Whether `thing` was seen in another split."""
        return bool(self._where.get(thing, 0) & ~self._bits.get(split, 0))


def _has_right(question: Question) -> bool:
    return 0 <= question.label < len(question.endings)


def _faults_alone(question: Question) -> Iterable[str]:
    """The kinds of fault that one question shows by itself."""
    # The first distractors are among the endings; a fourth stands in the full files only.
    further = [d.text for d in question.distractors[len(question.endings) - 1 :]]
    texts = [question.sent1, question.sent2, *question.endings, *further]
    if _has_right(question):
        right = _compared(question.right)
        wrong = [_compared(t) for i, t in enumerate(question.endings) if i != question.label]
        wrong += map(_compared, further)
        if len({*wrong}) < len(wrong):
            yield "duplicate_options"
        # Nor is the found ending ever wrong where a generated one is right.
        if right in wrong or any(d.kind == "found" for d in question.distractors):
            yield "gold_among_distractors"
    else:
        yield "label_out_of_range"
    if not all(map(_has_word, texts[2:])):
        yield "empty_ending"
    if not any(map(_has_word, texts[:2])):
        yield "empty_context"
    if question.gold_source == "gen" and question.split != "train":
        yield "gen_outside_train"
    if any(map(_CONTROL.search, texts)):
        yield "control_characters"
    if any(text != " ".join(text.split()) for text in texts):
        yield "stray_space"
    if any(len(text) > LONG for text in texts):
        yield "long_text"


def _has_word(text: str) -> bool:
    return any(map(str.isalnum, text if text.isascii() else _UNSEEN.sub("", text)))


def _compared(text: str) -> str:
    """A text as a reader tells it from another: folded, without what is not seen."""
    return folded(text if text.isascii() else _UNSEEN.sub("", text))


def _public(place: str) -> str:
    """A place of the test split without what stands behind its row. A context's id is a hash of
    its found ending too, so that whoever tries the four would know the right one."""
    found = _TEST.match(place)
    return found[0] if found else place


def _problem(kind: str, count: int, places: list[str]) -> Problem:
    level, one, more, remedy = _RULES[kind]
    sentence = f"{count:,} {one if count == 1 else more}. {remedy}"
    return Problem(kind, level, count, sentence, tuple(places[:FIRST_PLACES]))


def _unspaced(text: str) -> int:
    """The hash of a text without its spaces: a noun phrase and its rest are joined in any script
    as the whole sentence is."""
    return _hash("".join(_compared(text).split()))


def _hash(text: str) -> int:
    """64 bits: among the texts of a million questions two collide once in 40 million releases."""
    data = text.encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(data, digest_size=8).digest(), "little")
