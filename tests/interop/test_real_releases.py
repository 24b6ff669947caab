"""The releases themselves, before others load them: whole, marked, and what the verdicts say."""

from __future__ import annotations

from collections import Counter

import pytest
from made_releases import TEXTS, Released

from swag_studio.engine import released as reading
from swag_studio.lineage import Lineage
from swag_studio.project import Project
from swag_studio.records import SPLITS
from swag_studio.rounds import HumanWork

pytestmark = pytest.mark.interop


def test_it_has_the_questions_that_its_manifest_counts(released: Released) -> None:
    assert reading.damaged(released.folder) == []
    told = released.manifest["counts"]["questions"]
    for split in SPLITS:
        kinds = Counter(q.gold_source for q in released.of(split))
        assert told[split]["gold"] == kinds["gold"] > 0
        assert told[split]["gen"] == kinds["gen"]
        assert told[split]["all"] == kinds.total()


def test_simulated_annotators_are_told(released: Released) -> None:
    """In the manifest and on the card; the awkward texts were judged by one called a person."""
    simulated = released.options.include_simulated
    assert released.manifest["simulated"] == simulated
    card = (released.folder / "README.md").read_text("utf-8")
    assert ("simulated annotators" in card) == simulated
    assert simulated == any(q.simulated for q in released.questions)


def test_each_question_is_what_was_judged(released: Released) -> None:
    """Its texts are the database's, of the endings that its verdict names in their order."""
    with Project.open(released.project, readonly=True) as project:
        lineage, store = Lineage.of(project, released.options.filter_version), project.store
        run, prepared = lineage["filter"].version, lineage["prepare"].version
        work = HumanWork(store, run, prepared, lineage.recipe.run.seed)
        verdicts = {v.context_id: v for v in work.verdicts() if v.kind == "found"}
        contexts = {c.id: c for c in store.contexts_by_id(prepared, sorted(verdicts))}
        ids = {j.ending_id for v in verdicts.values()
               for j in (*v.distractors, *v.generated_distractors)}  # fmt: skip
        ids |= {v.generated for v in verdicts.values()} - {""}
        texts = {id: ending.text for id, ending in store.endings_by_id(sorted(ids)).items()}
    judged = {q.context_id for q in released.questions}
    assert judged == verdicts.keys()
    for q in released.questions:
        context, verdict = contexts[q.context_id], verdicts[q.context_id]
        found = q.gold_source == "gold"
        wrong = verdict.distractors if found else verdict.generated_distractors
        assert (q.sent1, q.sent2, q.split) == (context.sent1, context.sent2, context.split)
        assert q.right == (context.found if found else texts[verdict.generated])
        assert [d.text for d in q.distractors] == [texts[j.ending_id] for j in wrong]
        assert Counter(q.endings) == Counter([q.right, *(d.text for d in q.distractors[:3])])


@pytest.mark.parametrize("released", ["awkward"], indirect=True)
def test_each_awkward_text_is_right_and_wrong_in_each_split(released: Released) -> None:
    for split in SPLITS:
        questions = released.of(split)
        assert {q.right for q in questions} == {*TEXTS}
        assert {text for q in questions for text in q.endings if text != q.right} == {*TEXTS}
        assert {q.label for q in questions} == {0, 1, 2, 3}
