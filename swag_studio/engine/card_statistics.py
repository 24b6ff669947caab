"""What a release counts, as the tables of its dataset card; beside it SWAG as published.

Made from the counts of the release's manifest; it knows no project.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from swag_studio.engine.card_front import plain
from swag_studio.records import SPLITS

Counts = Mapping[str, Any]

# SWAG as published (paper, section 4 and appendix), to stand beside this release.
_SWAG = {
    "questions": 113_557,
    "train": 73_546,
    "val": 20_006,
    "test": 20_005,
    "gold": 87_939,
    "gen": 25_618,
    "contexts": 92_221,
    "endings": 452_683,
}
_SWAG_FOURTH = "62%"
_SWAG_SOURCES = {"ActivityNet Captions": 51_439, "LSMDC": 62_118}  # questions

# Why no question came of a context -> in words.
LEFT_OUT = {
    "excluded": "excluded by a curator",
    "not judged": "not judged, or not by enough annotators",
    "reannotate": "waiting for another round",
    "adjudicate": "tied, waiting for an adjudicator",
    "surprising": "surprising: no round gave a question",
    "few": "too few wrong endings",
}


def statistics(counts: Counts) -> str:
    """The paper's Table 6 of this release, beside SWAG's."""
    by_split = counts["questions"]
    total = sum(c["all"] for c in by_split.values())
    mine: dict[str, int] = {
        "questions": total,
        **{split: by_split[split]["all"] for split in SPLITS},
        "gold": sum(c["all"] - c["gen"] for c in by_split.values()),
        "gen": sum(c["gen"] for c in by_split.values()),
        "contexts": counts["contexts"],
        "endings": counts["endings"],
    }
    names = {
        "questions": "questions",
        **{split: f"questions in {split}" for split in SPLITS},
        "gold": "questions with the found ending right",
        "gen": "questions with a generated ending right (train only)",
        "contexts": "contexts with a question",
        "endings": "different endings",
    }
    rows = [[names[k], f"{mine[k]:,}", f"{_SWAG[k]:,}"] for k in mine]
    share = f"{counts['with_fourth'] / total:.0%}" if total else ""
    rows.append(["questions with a fourth wrong ending", share, _SWAG_FOURTH])
    rows.append(["wrong endings that a person edited", f"{counts['edited_endings']:,}", ""])
    rows.append(["contexts in surprising.jsonl", f"{counts['surprising']:,}", ""])
    rows.append(["pairs in preferences.jsonl", f"{counts['preferences']:,}", ""])
    for name, what in (
        ("context", "context"),
        ("right", "right ending"),
        ("wrong", "wrong ending"),
    ):
        mean = counts["mean_words"][name]
        rows.append([f"words of a {what}, mean", "" if mean is None else f"{mean:.1f}", ""])
    return table(["", "this release", "SWAG"], rows)


def kinds(counts: Counts) -> str:
    """Questions by what the full files call them."""
    rows = [[f"`{kind}`", f"{n:,}"] for kind, n in counts["by_kind"].items()]
    return table(["`gold-source` of the full files", "questions"], rows)


def sources_table(counts: Counts) -> str:
    """Questions and contexts of each source, and SWAG's questions of each."""
    rows = []
    for name, questions in counts["by_source"].items():
        contexts = counts["contexts_by_source"][name]
        numbers = (questions, sum(contexts.values()), *(contexts[split] for split in SPLITS))
        rows.append([f"`{plain(name)}`", *(f"{n:,}" for n in numbers)])
    blank = [""] * (1 + len(SPLITS))
    rows += [[f"SWAG: {name}", f"{n:,}", *blank] for name, n in _SWAG_SOURCES.items()]
    columns = ["source", "questions", "contexts", *(f"contexts in {split}" for split in SPLITS)]
    return table(columns, rows)


def left_out(counts: Counts) -> str:
    """Contexts without a question, by the reason; "" where there are none."""
    if not counts["left_out"]:
        return ""
    rows = [[LEFT_OUT.get(why, why), f"{n:,}"] for why, n in counts["left_out"].items()]
    return table(["contexts left out", "contexts"], rows)


# --- in Markdown -----------------------------------------------------------------------------


def table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table in Markdown."""
    lines = ["| " + " | ".join(columns) + " |", "|" + " --- |" * len(columns)]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in rows)])


def number(count: int, what: str) -> str:
    """ "1 context", "2 contexts"."""
    return f"{count:,} {what}" if count == 1 else f"{count:,} {what}s"
