"""What people said of a run, from rows alone: whose word counts, and which of two."""

from __future__ import annotations

from pathlib import Path

import pytest
from made_run import make_project

from swag_studio.engine.said import Feedback, Said, collect
from swag_studio.judging import Adjudication, Annotator, Judgement, Label, Task, task_id
from swag_studio.project import Project
from swag_studio.records import folded


@pytest.mark.parametrize(
    ("simulated", "people", "word"),
    [
        (False, None, "people"),
        (True, None, "simulation"),
        (True, False, "simulation"),
        (True, True, "people and simulation"),
    ],
)
def test_it_is_told_whose_word_it_is(simulated: bool, people: bool | None, word: str) -> None:
    assert Feedback(1, "key", {}, (), simulated, people).by == word


def test_a_feedback_is_known_by_what_is_in_it() -> None:
    contexts = {"c1": Said(("sings.",), ("", "runs.")), "c2": Said(("walks.",))}
    labels = (("c1", "sings.", True), ("c1", "runs.", False), ("c2", "walks.", True))
    feedback = Feedback(3, "key", contexts, labels, True, False)
    assert Feedback.from_dict(feedback.to_dict()) == feedback
    assert feedback.affected == ["c1"] and feedback.counts == (2, 1)
    assert feedback.name.startswith("v3:")
    others = [
        Feedback(3, "other", contexts, labels, True, False),
        Feedback(3, "key", contexts, labels[:2], True, False),
        Feedback(3, "key", {"c1": contexts["c1"]}, labels, True, False),
        Feedback(3, "key", contexts, labels, True, True),
    ]
    assert len({f.name for f in (feedback, *others)}) == 5


def labelled(*gibberish: int) -> tuple[Label, ...]:
    return tuple("gibberish" if place in gibberish else "likely" for place in range(6))


def test_most_decide_and_an_adjudicator_outvotes_them(tmp_path: Path) -> None:
    """Slots 1, 2 and 5 are gibberish to two of three. Of 2 an adjudicator says that it is none,
    and of 3 that it is, having said the contrary of both a day before, in another task. A fourth
    answer makes 5 a tie, which is left out.
    """
    make_project(tmp_path / "p.swag", 2)
    with Project.open(tmp_path / "p.swag") as project:
        store = project.store
        (run,) = project.store.artifacts("filter")
        (context, *_) = (c.id for c in store.contexts(1))
        slots = dict(store.assigned(1))[context]
        ids, texts = [e.id for _, e, _ in slots], [folded(e.text) for _, e, _ in slots]

        def asked(places: str) -> str:
            endings = tuple(ids[int(place)] for place in f"0{places}")
            task = Task(task_id(context, 0, endings), context, 1, 0, endings)
            store.put_tasks([task])
            return task.id

        voted, settled, before, once = map(asked, ("12345", "23789", "23678", "56789"))
        for who in "abc":
            store.put_annotator(Annotator(who, who))
        given = [("a", labelled(1, 2, 5)), ("b", labelled(1, 2, 5)), ("c", labelled())]
        store.add_judgements([Judgement(voted, who, labels, 0, 3) for who, labels in given])
        store.add_judgements([Judgement(once, "a", labelled(), 0, 2)])
        store.adjudicate(Adjudication(settled, "C", labelled(2), 0, 1, "2030-01-02"))
        store.adjudicate(Adjudication(before, "C", labelled(1), 0, 2, "2030-01-01"))
        feedback = collect(project, run)
    said = {texts.index(text): label for _, text, label in feedback.labels}
    assert said == {1: True, 2: False, 3: True, 4: False, **dict.fromkeys((6, 7, 8, 9), False)}
    start = ("", texts[2], "", *texts[4:])
    assert feedback.contexts == {context: Said(tuple(sorted((texts[1], texts[3]))), start)}
    assert (feedback.simulated, feedback.people, feedback.by) == (False, None, "people")
