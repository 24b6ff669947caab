"""Questions made for tests: clean sets for hypothesis, and awkward texts that must survive."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections import Counter
from pathlib import Path

from hypothesis import strategies as st

from swag_studio.engine.exporters.swag_csv import SwagCsv
from swag_studio.files import write_json
from swag_studio.records import SPLITS, Distractor, Question

AWKWARD = [
    "None",
    "NA",
    "nan",
    "null",
    "a, b",
    'say "no"',
    "two\nlines",
    "\r\n",
    "猫が窓を開ける。",
    "=1+1",
    "-1",
    " x ",
    "",
]
ANY_TEXT = st.one_of(
    st.sampled_from(AWKWARD),
    st.text(st.characters(blacklist_categories=["Cs"], blacklist_characters="\0"), max_size=12),
)


def made(number: int, split: str = "train", label: int = 0, **values: object) -> Question:
    """A clean question that is unlike those of other numbers; four options, `label` right."""
    wrong = tuple(Distractor(f"e{number}-{i}", f"falls {number} {i}.", "unl") for i in range(4))
    texts = [d.text for d in wrong[:3]]
    texts.insert(label, f"stands up {number}.")
    question = Question(
        context_id=f"c{number}",
        video_id=f"anetv_{number}",
        fold=number % 2,
        split=split,
        sent1=f"A man sits on chair {number}.",
        sent2=f"Then man {number}",
        endings=tuple(texts),
        label=label,
        gold_source="gold",
        id=f"q{number}",
        group=f"g{number}",
        source_id="s1",
        document=f"v_{number}",
        position=1,
        right_id=f"e{number}",
        right_type="pos",
        distractors=wrong,
        full_source="gold0-orig",
        verified=True,
    )
    return dataclasses.replace(question, **values)  # type: ignore[arg-type]


def clean_set(count: int) -> list[Question]:
    """`count` clean questions over all splits, with labels that take turns in each split."""
    return [made(i, SPLITS[i % 3], (i // 3) % 4) for i in range(count)]


@st.composite
def any_questions(draw: st.DrawFn, most: int = 8) -> list[Question]:
    """Questions with awkward texts everywhere; what a format has to carry exactly."""
    result = []
    for number in range(draw(st.integers(0, most))):
        label = draw(st.integers(0, 3))
        texts = draw(st.tuples(*[ANY_TEXT] * 4))
        wrong = [t for i, t in enumerate(texts) if i != label]
        result.append(
            made(
                number,
                draw(st.sampled_from(SPLITS)),
                label,
                video_id=draw(ANY_TEXT),
                sent1=draw(ANY_TEXT),
                sent2=draw(ANY_TEXT),
                endings=texts,
                distractors=tuple(Distractor(f"e{i}", t, "pos") for i, t in enumerate(wrong)),
                gold_source=draw(st.sampled_from(["gold", "gen"])),
            )
        )
    return result


def write_release(folder: Path, questions: list[Question], **settings: object) -> Path:
    """A release with SWAG's files, the provenance that reading needs, and a manifest."""
    folder.mkdir(parents=True)
    exporter = SwagCsv()
    list(exporter.export(questions, folder))
    rows: Counter[str] = Counter()
    with open(folder / "provenance.jsonl", "w", encoding="utf-8", newline="\n") as file:
        for q in questions:
            told = [{"id": d.id, "text": d.text, "type": d.type, "kind": d.kind}
                    for d in q.distractors]  # fmt: skip
            right = {"id": q.right_id, "text": q.right, "type": q.right_type, "kind": q.right_kind}
            told.insert(q.label, right)
            line = {"id": q.id, "split": q.split, "index": rows[q.split], "context": q.context_id}
            line |= {"group": q.group, "document": q.document, "sentence": q.position}
            line |= {"full_source": q.full_source, "verified": q.verified, "endings": told}
            file.write(json.dumps(line) + "\n")
            rows[q.split] += 1
    names = (*exporter.files, "provenance.jsonl")
    digests = {n: hashlib.sha256((folder / n).read_bytes()).hexdigest() for n in names}
    manifest = {"package": {"version": "1"}, "recipe": {"run": {"seed": 1}}, **settings}
    write_json(folder / "manifest.json", manifest | {
        "files": {name: {"sha256": digest} for name, digest in digests.items()}
    })  # fmt: skip
    return folder
