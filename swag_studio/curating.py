"""Changes that curators make: checked, done as one named step of the log, and so undone by name.

Every method goes from the state that the store has to a new one. Nothing is written when a check
fails, or when nothing would change. It knows no screen and no SQL.
"""

from __future__ import annotations

import dataclasses
import getpass
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from swag_studio.errors import UserError
from swag_studio.records import Ending, EndingKind, content_id, ending_id, folded
from swag_studio.reviewing import FLAGS, Batch, Curated, Made, text_problem
from swag_studio.store import Store
from swag_studio.store_steps import TooLate
from swag_studio.views import PoolEnding

_WHO = "curator of "  # the setting's name, before the login
_CHANGED = (
    "The context was changed elsewhere meanwhile. Nothing was written; look at it again and repeat "
    "the change."
)


class EditError(UserError):
    """A change that may not be made, and why."""


# --- who ---------------------------------------------------------------------------------------


def login() -> str:
    """The name that this person has on this machine."""
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):  # a system without such names
        return "curator"


def who(store: Store) -> str:
    """The name that stands beside this person's changes; empty while nobody was asked."""
    return str(store.people_setting(_WHO + login(), ""))


def set_who(store: Store, name: str) -> None:
    """Keeps the name for this login. Raises EditError when it is empty."""
    if not name.strip():
        raise EditError("A name is needed: it stands beside each change in the log.")
    store.set_people_setting(_WHO + login(), " ".join(name.split()))


# --- drafts ------------------------------------------------------------------------------------

COMMENT = -1  # a draft's place when it is of the context's comment
_DRAFTS = "drafts of "  # the setting's name, before the login

Where = tuple[int, str, int]  # version, context id, place or COMMENT
Rows = list[list[Any]]  # such a place and its text, as JSON keeps them


def drafts(store: Store) -> dict[Where, str]:
    """What this person typed and has not saved."""
    return _drafts(store.people_setting(_DRAFTS + login(), []))


def keep_draft(store: Store, where: Where, text: str) -> None:
    """Keeps a half-written text; an empty one is kept no more."""

    def kept(rows: Rows) -> Rows:
        texts = {**_drafts(rows), where: text}
        return [[*where, text] for where, text in texts.items() if text]

    if drafts(store).get(where, "") != text:
        store.change_people_setting(_DRAFTS + login(), [], kept)


def _drafts(rows: Rows) -> dict[Where, str]:
    return {(version, context, place): text for version, context, place, text in rows}


# --- many contexts at once -----------------------------------------------------------------------


ChangeKind = Literal["exclude", "include", "flag", "unflag"]


@dataclass(frozen=True, slots=True)
class Change:
    """What a bulk action does to each of its contexts."""

    kind: ChangeKind
    flag: str = ""

    def of(self, state: Curated) -> Curated:
        """The state after it."""
        if self.kind in ("exclude", "include"):
            return dataclasses.replace(state, excluded=self.kind == "exclude")
        return flagged(state, self.flag, self.kind == "flag")

    def named(self, contexts: int) -> str:
        """As undo names it: "Exclude 12 contexts"."""
        what = "a context" if contexts == 1 else f"{contexts:,} contexts"
        return {
            "exclude": f"Exclude {what}",
            "include": f"Include {what} again",
            "flag": f"Flag {what} as “{self.flag}”",
            "unflag": f"Take the flag “{self.flag}” off {what}",
        }[self.kind]

    @property
    def done(self) -> str:
        """What a context is that needs it no more."""
        return {
            "exclude": "already excluded",
            "include": "not excluded",
            "flag": "already flagged so",
            "unflag": "without this flag",
        }[self.kind]


def flagged(state: Curated, flag: str, on: bool) -> Curated:
    """A state with a flag or without it; flags stay in the order of FLAGS."""
    flags = {*state.flags, flag} if on else {*state.flags} - {flag}
    known = (*FLAGS, *sorted(flags - set(FLAGS)))  # those of another version stay
    return dataclasses.replace(state, flags=tuple(f for f in known if f in flags))


def order(state: Curated) -> tuple[int, ...]:
    """Places in `state.endings`, from 0, by rank; else as the filter left it."""
    return state.ranks or tuple(range(len(state.endings)))


# --- one curator ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Curator:
    """Someone who changes contexts of one filter version. `place` counts its distractors from 0.

    `seen` are the distractors' ids as they were shown to a person, where there is one: what stands
    in a place by now may be another ending, and is not what the change is meant for.
    Each method returns the step of the log, or None when nothing changed. Raises EditError with a
    sentence for the screen.
    """

    store: Store
    version: int
    who: str
    seen: tuple[str, ...] = ()

    def edit_text(self, context_id: str, place: int, text: str) -> Batch | None:
        """Puts a new ending with this text in the place of a distractor."""
        state, old = self._ending_at(context_id, place)
        if text == old.text:
            return None
        if trouble := self.problem(context_id, place, text):
            raise EditError(trouble)
        new = self._put(context_id, text, "edited")
        if new.kind == "edited":
            self.store.put_parent(new.id, old.id, self.who)
        return self._set_ending(context_id, state, place, new.id, "Edit an ending")

    def replace(
        self, context_id: str, place: int, text: str, kind: EndingKind = "generated"
    ) -> Batch | None:
        """Puts a candidate of the pool in the place of a distractor."""
        state, _ = self._ending_at(context_id, place)
        if trouble := self.problem(context_id, place, text):
            raise EditError(trouble)
        new = self._put(context_id, text, kind)
        return self._set_ending(context_id, state, place, new.id, "Replace an ending")

    def restore(self, context_id: str, place: int, ending: str) -> Batch | None:
        """Puts an ending back that stood there before, by its id."""
        state, _ = self._ending_at(context_id, place)
        earlier = self.store.endings_by_id([ending]).get(ending)
        if earlier is None or earlier.context_id != context_id:
            raise EditError("That ending is not one of this context's. Look at its log again.")
        if trouble := self.problem(context_id, place, earlier.text):
            raise EditError(trouble)
        return self._set_ending(context_id, state, place, ending, "Restore an ending")

    def rank(self, context_id: str, places: Sequence[int]) -> Batch | None:
        """Ranks the distractors, the most plausible wrong ending first."""
        state = self.state(context_id)
        if sorted(places) != list(range(len(state.endings))):
            raise ValueError(f"{places} is no order of {len(state.endings)} endings")
        if self.seen and self.seen != state.endings:
            raise EditError(_CHANGED)
        if tuple(places) == order(state):
            return None
        after = dataclasses.replace(state, ranks=tuple(places))
        return self._apply("Rank the endings", {context_id: (state, after)})

    def flag(self, context_id: str, flag: str, on: bool) -> Batch | None:
        """Sets a flag, or takes it off."""
        return self.bulk([context_id], Change("flag" if on else "unflag", flag))

    def exclude(self, context_id: str, on: bool = True) -> Batch | None:
        """Takes a context out of what is released, or back in."""
        return self.bulk([context_id], Change("exclude" if on else "include"))

    def comment(self, context_id: str, text: str) -> Batch | None:
        """Keeps a note on a context; an empty one takes it off."""
        state = self.state(context_id)
        after = dataclasses.replace(state, comment=text.strip())
        return self._apply("Comment on a context", {context_id: (state, after)})

    def preview(self, context_ids: Iterable[str], change: Change) -> tuple[int, int]:
        """(contexts, those of them that `change` leaves as they are)."""
        marks = self.store.marks_of(self.version, context_ids)
        left = sum(n for state, n in marks.items() if change.of(state) == state)
        return sum(marks.values()), left

    def bulk(self, context_ids: Iterable[str], change: Change) -> Batch | None:
        """The same change of many contexts, as one step; those that need none are not in it."""
        step: Batch | None = None
        for made in self.changing(context_ids, change):
            step = made.step
        return step

    def changing(self, context_ids: Iterable[str], change: Change) -> Iterator[Made]:
        """`bulk` a slice at a time; what was done before this is closed is a step."""
        return in_words(
            self.store.change(self.version, self.who, context_ids, change.of, change.named)
        )

    # --- checks --------------------------------------------------------------------------

    def state(self, context_id: str) -> Curated:
        """What people made of a context by now."""
        return self.store.curated(self.version, context_id)

    def problem(self, context_id: str, place: int, text: str) -> str:
        """Why `text` may not stand in this place, as a sentence; empty when it may."""
        found, others = self.neighbours(context_id, place)
        return text_problem(text, found, others)

    def neighbours(self, context_id: str, place: int) -> tuple[str, list[str]]:
        """(the found ending, the other distractors) that a text in this place must differ from."""
        state = self.state(context_id)
        endings = self.store.endings_by_id(state.endings)
        others = [endings[id].text for i, id in enumerate(state.endings) if i != place]
        found = next(
            e for slot, e, _ in self.store.assigned_to(self.version, context_id) if not slot
        )
        return found.text, others

    def _ending_at(self, context_id: str, place: int) -> tuple[Curated, Ending]:
        state = self.state(context_id)
        if not 0 <= place < len(state.endings):
            raise EditError("The context has no such ending any more. Look at it again.")
        if self.seen and self.seen[place] != state.endings[place]:
            raise EditError(_CHANGED)
        return state, self.store.endings_by_id([state.endings[place]])[state.endings[place]]

    # --- writing -------------------------------------------------------------------------

    def _put(self, context_id: str, text: str, kind: EndingKind) -> Ending:
        """The context's ending with exactly this text; it is made if there is none.

        An ending's id folds case and space, in which an edit may be all the difference: what has
        the same id and another text gets an id of its own.
        """
        id = ending_id(context_id, text)
        known = self.store.endings_by_id([id]).get(id)
        if known is not None and known.text != text:
            id = content_id("ending", context_id, folded(text), text)
            known = self.store.endings_by_id([id]).get(id)
        if known is None:
            known = Ending(id, context_id, text, kind, -1)
            self.store.put_endings([known])
        return known

    def _set_ending(
        self, context_id: str, state: Curated, place: int, ending: str, name: str
    ) -> Batch | None:
        endings = tuple(ending if i == place else id for i, id in enumerate(state.endings))
        after = dataclasses.replace(state, endings=endings)
        return self._apply(name, {context_id: (state, after)})

    def _apply(self, name: str, changes: Mapping[str, tuple[Curated, Curated]]) -> Batch | None:
        real = {id: pair for id, pair in changes.items() if pair[0] != pair[1]}
        if not real:
            return None
        try:
            return self.store.apply_edits(self.version, self.who, name, real)
        except ValueError:
            raise EditError(_CHANGED) from None


# --- many contexts, a slice at a time ------------------------------------------------------------


def undoing(store: Store, who: str, asked: int = 0) -> Iterator[Made]:
    """Takes the last step back; where that was broken off, the next one goes on.

    `asked` is the step that a person means, as they were told its name; 0 for whichever is last.
    """
    return in_words(store.undoing(who, asked))


def redoing(store: Store, who: str, asked: int = 0) -> Iterator[Made]:
    """Does the step again that was undone last; `asked` as in `undoing`."""
    return in_words(store.redoing(who, asked))


def in_words(making: Iterator[Made]) -> Iterator[Made]:
    """Raises EditError where another change came in."""
    try:
        yield from making
    except TooLate:
        raise EditError(
            "Something else was changed meanwhile, so nothing was taken back or done again. Look "
            "at what Undo and Redo name now."
        ) from None
    except ValueError:
        raise EditError(
            "Something was changed elsewhere meanwhile, and this stopped there. What was done by "
            "then is a step of the log; Undo takes it back."
        ) from None


# --- what can take a distractor's place ----------------------------------------------------------


def offers(
    endings: Sequence[PoolEnding], taken: Sequence[str], shortest: int = 0
) -> list[tuple[PoolEnding, float]]:
    """(candidate, distance to the found ending), the most like it first, of a context's pool.

    Left out: what may not be assigned, fewer than `shortest` words, and texts that are `taken` or
    repeat an earlier one. The distance is Euclidean over the features, each divided by its
    standard deviation over the context's candidates.
    """
    found = next((e for e in endings if e.found), None)
    seen = {folded(text) for text in taken} | ({folded(found.text)} if found else set())
    kept: list[PoolEnding] = []
    for ending in endings:
        if not ending.usable:
            continue
        if folded(ending.text) in seen or len(ending.text.split()) < shortest:
            continue
        seen.add(folded(ending.text))
        kept.append(ending)
    if found is None or not kept:
        return [(e, 0.0) for e in kept]
    values = np.array([e.features for e in kept], np.float64)
    spread = values.std(axis=0)
    scale = np.where(spread > 0, spread, np.inf)  # what all share tells nothing
    away = np.linalg.norm((values - np.array(found.features)) / scale, axis=1)
    return [(kept[i], float(away[i])) for i in np.argsort(away, kind="stable")]
