"""README.md of a release: a dataset card with Hugging Face front matter, in plain words.

Made from the release's manifest alone, so it says what the manifest says. It knows no project.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from typing import Any

from swag_studio.engine.card_columns import FILES, TABLES
from swag_studio.engine.card_front import Manifest, front_matter, plain, title
from swag_studio.records import SPLITS

SIMULATED = (
    "**Simulated: the answers that verified this release came {how} from simulated annotators, "
    "not from people. It shows how the pipeline works; it is no benchmark.**"
)
SIMULATED_FEEDBACK = (
    "**Simulated: the filter was run again with what simulated annotators said of an earlier run, "
    "{how} people. Which wrong endings there are depends on it.**"
)
UNVERIFIED = (
    "**Unverified: nobody judged {count} of the {all} questions. Some of their wrong endings may "
    "be as good as the found one, or make no sense.**"
)
OVERRIDDEN = "**Released in spite of faults that block a release: {kinds}. See Checks.**"

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

# The checks of release_checks.py in a few words each, in their order.
_LOOKED_FOR = {
    "duplicate_options": "repeated options",
    "gold_among_distractors": "the right or found ending among the wrong ones",
    "empty_ending": "endings without a word",
    "empty_context": "contexts without a word",
    "label_out_of_range": "labels of no ending",
    "gen_outside_train": "generated right endings outside train",
    "group_in_two_splits": "a group or video in two splits",
    "context_across_splits": "a context in two splits",
    "label_imbalance": "unbalanced labels",
    "control_characters": "control or invisible characters",
    "answer_across_splits": "a found ending that another split's context shows",
    "groups_alike": "groups of two splits under names that are nearly equal",
    "stray_space": "stray space",
    "long_text": "very long texts",
}

# The formats of captions of videos; of other sources it is not known what they describe.
_VIDEOS = {"activitynet", "lsmdc", "tacos"}
_LEFT_OUT = {
    "excluded": "excluded by a curator",
    "not judged": "not judged, or not by enough people",
    "reannotate": "waiting for another round",
    "adjudicate": "tied, waiting for an adjudicator",
    "surprising": "surprising: no round gave a question",
    "few": "too few wrong endings",
}


def card(manifest: Manifest) -> str:
    """The card's text. `manifest` may lack `files`' hashes; their names are used."""
    parts = [
        front_matter(manifest),
        f"# {title(manifest)} {manifest['version']}",
        *_warnings(manifest),
        _summary(manifest),
        "## Files",
        _files(manifest["files"]),
        _reading(),
        "## Columns",
        *_columns(manifest["files"]),
        "## Statistics",
        _statistics(manifest["counts"]),
        _kinds(manifest["counts"]),
        _sources_table(manifest["counts"]),
        _left_out(manifest["counts"]),
        "## How it was made",
        _making(manifest),
        "## Who verified it",
        *_verification(manifest["verification"]),
        "## Checks",
        _checks(manifest),
        "## Limits",
        _limits(),
        "## Sources and licence",
        _sources(manifest),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


# --- what must be seen first ---------------------------------------------------------------------


def _warnings(manifest: Manifest) -> list[str]:
    people, counts = manifest["verification"], manifest["counts"]
    result = []
    if people["simulated_judgements"]:
        how = "in part" if people["judgements"] else "only"
        result.append(SIMULATED.format(how=how))
    if "simulation" in (by := manifest["feedback"]["by"]):
        how = "beside" if "people" in by else "not"
        result.append(SIMULATED_FEEDBACK.format(how=how))
    total = sum(c["all"] for c in counts["questions"].values())
    if unverified := people["unverified_questions"]:
        result.append(UNVERIFIED.format(count=f"{unverified:,}", all=f"{total:,}"))
    if manifest["overrides"]:
        result.append(OVERRIDDEN.format(kinds=", ".join(manifest["overrides"])))
    return result


def _summary(manifest: Manifest) -> str:
    formats = {source["format"] for source in manifest["sources"]}
    if formats <= _VIDEOS:
        shown = "a sentence that describes a video and the beginning of the next one"
        found = "caption that was found with the video"
    else:
        shown = "a sentence and the beginning of the one that follows it in its source"
        found = "one that was found in the source"
    wrote = " or came with the source" if "own" in formats else ""
    edited = manifest["counts"]["edited_endings"]
    return (
        f"Each question shows {shown}, and asks which of four endings comes next. The right ending "
        f"is the {found}, unless `gold-source` says otherwise; the wrong ones were written by a "
        f"language model{wrote}{', or edited by a person,' if edited else ''} and chosen by "
        "adversarial filtering, as in SWAG (Zellers et al., 2018)."
    )


def _files(files: Iterable[str]) -> str:
    rows = [[f"`{name}`", _told_of(name)] for name in sorted(files)]
    rows.append(["`manifest.json`", "hashes, recipe, versions, counts, policy, checks"])
    rows.append(["`run.json`", "when, where and how long; differs between equal releases"])
    return _table(["file", "what it holds"], rows)


def _told_of(name: str) -> str:
    found = (text for pattern, text in FILES.items() if fnmatch.fnmatchcase(name, pattern))
    return next(found, "")


def _reading() -> str:
    return (
        "Texts such as `None` and `NA` are texts. Read the files with "
        '`pandas.read_csv("train.csv", keep_default_na=False)` or '
        '`datasets.load_dataset("csv", data_files="train.csv", keep_default_na=False)`; '
        "`datasets.load_dataset` of this folder does so by itself."
    )


def _columns(files: Container[str]) -> Iterator[str]:
    """The columns of the files that there are."""
    for table in TABLES:
        if table.first in files:
            yield table.heading
            yield _table(["column", "what it holds"], _quoted(table.columns))


# --- statistics ------------------------------------------------------------------------------


def _statistics(counts: Mapping[str, Any]) -> str:
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
    return _table(["", "this release", "SWAG"], rows)


def _kinds(counts: Mapping[str, Any]) -> str:
    rows = [[f"`{kind}`", f"{n:,}"] for kind, n in counts["by_kind"].items()]
    return _table(["`gold-source` of the full files", "questions"], rows)


def _sources_table(counts: Mapping[str, Any]) -> str:
    rows = [[f"`{plain(name)}`", f"{n:,}"] for name, n in counts["by_source"].items()]
    return _table(["source", "questions"], rows)


def _left_out(counts: Mapping[str, Any]) -> str:
    if not counts["left_out"]:
        return ""
    rows = [[_LEFT_OUT.get(why, why), f"{n:,}"] for why, n in counts["left_out"].items()]
    return _table(["contexts left out", "contexts"], rows)


# --- making and verifying ------------------------------------------------------------------------


def _making(manifest: Manifest) -> str:
    f, formats = manifest["recipe"]["filter"], {s["format"] for s in manifest["sources"]}
    iterations = f["mlp_iterations"] + f["ensemble_iterations"]
    own = "Contexts of the format `own` came split, with their candidates, and stand as they came. "
    divided = "group_in_two_splits" in manifest["overrides"]
    splits = "Splits go by group (video, movie or document); none is in two of them. "
    return (
        f"{own if 'own' in formats else ''}"
        f"{_from_captions(manifest) if formats != {'own'} else ''}"
        f"{f['distractors']} candidates were assigned to each context. In at most {iterations} "
        f"iterations of adversarial filtering with the classifiers {', '.join(f['members'])}, "
        "those that were easily told from the found ending gave way to harder ones, where there "
        f"were such. {_feedback(manifest['feedback'])}{'' if divided else splits}`manifest.json` "
        "has every setting, `provenance.jsonl` the way of each ending."
    )


def _from_captions(manifest: Manifest) -> str:
    p, g = manifest["recipe"]["prepare"], manifest["recipe"]["generate"]
    unseen = "; none has seen the group that it wrote for" if manifest["gold_unseen"] else ""
    return (
        f"Pairs of consecutive captions (at most {p['max_gap']:g} s apart) were cut after the "
        f"second one's opening noun phrase (splitter `{p['splitter']}`). One function writes the "
        "text of found and generated endings from the same lowercased tokens, so that spelling, "
        f"case and spacing do not tell them apart. Up to {g['candidates']:,} endings per context "
        f"were sampled from language models trained in {p['folds']} folds{unseen}. "
    )


def _feedback(feedback: Mapping[str, Any]) -> str:
    """The runs before the last one, and who rejected endings there; "" where there was one run."""
    parts = []
    for run in feedback["runs"]:
        who = run["by"].replace("simulation", "simulated annotators")
        moved = f"{_number(run['contexts'], 'context')} moved"
        parts.append(f"of run {run['run']} by {who} ({moved})")
    if not parts:
        return ""
    return (
        "That was the last of several runs, each of which went on from the one before without the "
        f"wrong endings that were rejected: {'; '.join(parts)}. "
    )


def _verification(people: Mapping[str, Any]) -> list[str]:
    if people["by"] == "nobody":
        return ["Nobody."]
    policy = people["policy"]
    who = []
    if people["judgements"]:
        who.append(f"{people['annotators']:,} people gave {people['judgements']:,} judgements")
    if people["simulated_judgements"]:
        who.append(
            f"{people['simulated_annotators']:,} **simulated annotators** gave "
            f"{people['simulated_judgements']:,} judgements"
        )
    if people["adjudications"]:
        who.append(f"an adjudicator settled {people['adjudications']:,} disagreements")
    text = (
        f"{'; '.join(who)}. An annotator sees six endings without their source, labels each "
        "likely, unlikely or gibberish, and names the best and the second best. A question needs "
        f"at least {_number(policy['judgements'], 'judgement')}; its found ending must be "
        f"{'best' if policy['top_places'] == 1 else 'best or second best'}, and wrong endings are "
        "those that are neither gibberish nor chosen. After a failed round, gibberish and endings "
        "above the found one are replaced, for at most "
        f"{_number(policy['further_rounds'], 'round')} more."
    )
    rows = [
        [name, *(_share(said[what]) for what in ("likely", "unlikely", "gibberish")),
         _share(said["best"]), _share(said["second"]), f"{said['endings']:,}"]
        for name, said in people["said"].items()
    ]  # fmt: skip
    columns = ["endings", "likely", "unlikely", "gibberish", "best", "second best", "rated"]
    return [text, _table(columns, rows), _agreement(people["agreement"])]


def _agreement(agreement: Mapping[str, Any]) -> str:
    if not agreement["tasks"]:
        return "No context was judged by two annotators, so agreement is not known."
    parts = []
    for measure, what in (("choices", "best / second best / neither"), ("labels", "labels")):
        alpha, percent = agreement[measure]["alpha"], agreement[measure]["percent"]
        value = "undefined" if alpha is None else f"{alpha:.2f}"
        equal = "" if percent is None else f", {percent:.0%} of pairs of ratings equal"
        parts.append(f"{what}: Krippendorff's alpha {value}{equal}")
    return f"Agreement on {agreement['tasks']:,} tasks: {'; '.join(parts)}."


def _checks(manifest: Manifest) -> str:
    checks = manifest["checks"]
    parts = []
    found = {problem["kind"] for problem in checks["problems"]}
    if absent := [words for kind, words in _LOOKED_FOR.items() if kind not in found]:
        parts.append(f"Looked for and not found: {', '.join(absent)}.")
    if checks["problems"]:
        parts.append(
            "\n".join(["Found:", "", *(_problem(manifest, p) for p in checks["problems"])])
        )
    if reason := plain(manifest.get("override_reason", "")):
        parts.append(f"Released all the same, since: {reason}")
    if count := checks["continued"]:
        parts.append(
            f"In {_number(count, 'question')} the found ending goes on as the context of another "
            "question of its split, as consecutive sentences do."
        )
    return "\n\n".join(parts)


def _problem(manifest: Manifest, problem: Mapping[str, Any]) -> str:
    overridden = ", overridden" if problem["kind"] in manifest["overrides"] else ""
    return f"- {problem['level']}{overridden}: {problem['sentence']}"


def _limits() -> str:
    return (
        "- The sources' texts carry their writers' slips and stereotypes.\n"
        "- Wrong endings come from small language models: some are odd rather than wrong, and a "
        "model can exploit that. Scores above chance do not show understanding.\n"
        "- The filter is adversarial to its own classifiers, not to every model.\n"
        "- The found endings stand in the sources, so whoever has those can look up the answers of "
        "the test set.\n"
        '- "Right" means what happened in the video, or what annotators preferred; another '
        "ending may be as plausible."
    )


def _sources(manifest: Manifest) -> str:
    rows = [
        [f"`{plain(s['file'])}`", s["format"], f"`{s['sha256'][:16]}`"] for s in manifest["sources"]
    ]
    licence = plain(manifest["licence"])
    told = (
        f"Licence of the sources, as the curator gave it: {licence}."
        if licence
        else "**The licence of the sources was not given. Find out before you pass this on.**"
    )
    package = manifest["package"]
    made = f"Made with {package['name']} {package['version']}."
    return "\n\n".join([_table(["file", "format", "SHA-256 begins"], rows), told, made])


# --- Markdown --------------------------------------------------------------------------------


def _table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = ["| " + " | ".join(columns) + " |", "|" + " --- |" * len(columns)]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in rows)])


def _quoted(columns: Mapping[str, str]) -> list[list[str]]:
    return [[f"`{name}`" if name[0] != "(" else name, what] for name, what in columns.items()]


def _number(count: int, what: str) -> str:
    return f"{count:,} {what}" if count == 1 else f"{count:,} {what}s"


def _share(value: float | None) -> str:
    return "" if value is None else f"{value:.1%}"
