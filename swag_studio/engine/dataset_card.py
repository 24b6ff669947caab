"""README.md of a release: a dataset card with Hugging Face front matter, in plain words.

Made from the release's manifest alone, so it says what the manifest says. It knows no project.
"""

from __future__ import annotations

import fnmatch
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from swag_studio.records import SPLITS

Manifest = Mapping[str, Any]

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

_COLUMNS = {
    "(no name)": "row number within the file, from 0",
    "video-id": "the video (or movie clip) that the two captions are of",
    "fold-ind": "running number within the fold of the context; **not unique by itself**",
    "startphrase": "`sent1`, a space, `sent2`: what is to be continued",
    "sent1": "the first caption, a sentence",
    "sent2": "the opening noun phrase of the second caption",
    "gold-source": "`gold`: the right ending is the found one; `gen`: it is a generated one that "
    "people preferred to the found one (train only)",
    "ending0 ... ending3": "the endings, one right and three wrong, shuffled",
    "label": "the number of the right ending, 0 to 3 (not in test.csv)",
}
_FULL_COLUMNS = {
    "video-id, fold-ind, startphrase, sent1, sent2": "as above",
    "gold-ending": "the right ending",
    "distractor-0 ... distractor-3": "the wrong endings, from unlikely to likely; the fourth may "
    "be empty",
    "gold-source": "`gold0`: people found the right ending best, `gold1`: second best; `-orig`: in "
    "their first round, `-reannot`: after wrong endings were replaced; `gen-orig`: a generated "
    "ending is right; `gold-unverified`: nobody judged",
    "gold-type": "`pos`: people called the right ending likely, `unl`: unlikely",
    "distractor-0-type ... distractor-3-type": "the same for each wrong ending; empty where there "
    "is none, or nobody judged",
}
_KNOWN_FILES = {
    "train.csv": "training questions",
    "val.csv": "validation questions",
    "test.csv": "test questions, without labels",
    "test_key.csv": "the labels of test.csv, by row number",
    "train_full.csv": "training questions with all wrong endings and how people saw them",
    "val_full.csv": "the same for validation",
    "provenance.jsonl": "where each ending came from, one line per question; it tells the right "
    "endings of the test set too",
    "surprising.jsonl": "pairs whose found ending people rejected; not part of any split",
    "preferences.jsonl": "generated endings that people put above the found one (train only)",
    "everything.jsonl": "all of it as JSON lines: each question with its ids, types and sources",
    "hellaswag_*.jsonl": "the questions in HellaSwag's format",
    "*.parquet": "the questions as Parquet, with the columns of everything.jsonl",
    "lm_eval/*": "a task for lm-evaluation-harness with its data",
    "spreadsheet/*": "copies that a spreadsheet opens without taking a text for a formula; for "
    "looking only",
    "README.md": "this card",
}
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
        _front_matter(manifest),
        f"# {_title(manifest)} {manifest['version']}",
        *_warnings(manifest),
        _summary(manifest),
        "## Files",
        _files(manifest["files"]),
        _reading(),
        "## Columns",
        "train.csv, val.csv, test.csv:",
        _table(["column", "what it holds"], _quoted(_COLUMNS)),
        "train_full.csv, val_full.csv:",
        _table(["column", "what it holds"], _quoted(_FULL_COLUMNS)),
        "## Statistics",
        _statistics(manifest["counts"]),
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


def _title(manifest: Manifest) -> str:
    return _plain(manifest["title"]) or "Adversarially filtered multiple choice"


# --- front matter ----------------------------------------------------------------------------


def _front_matter(manifest: Manifest) -> str:
    total = sum(c["all"] for c in manifest["counts"]["questions"].values())
    lines = ["---", f"pretty_name: {_yaml(_title(manifest))}", *_licence_lines(manifest["licence"])]
    lines += ["language:", f"- {_yaml(manifest['language'])}", "task_categories:"]
    lines += ["- multiple-choice", "size_categories:", f"- {_size(total)}"]
    lines += ["configs:", *_config("default", {"train": "train.csv", "validation": "val.csv"})]
    # Its columns differ from the others', so it cannot be a split of the same configuration.
    lines += _config("test", {"test": "test.csv"})
    full = {"train": "train_full.csv", "validation": "val_full.csv"}
    if set(full.values()) <= set(manifest["files"]):
        lines += _config("full", full)
    return "\n".join([*lines, "---"])


def _config(name: str, files: Mapping[str, str]) -> list[str]:
    lines = [f"- config_name: {name}", "  data_files:"]
    for split, file in files.items():
        lines += [f"  - split: {split}", f"    path: {file}"]
    return lines


def _licence_lines(licence: str) -> list[str]:
    """An id as it is; words under "other"; nothing given is unknown."""
    if not licence.strip():
        return ["license: unknown"]
    if re.fullmatch(r"[a-z][a-z0-9.-]*", licence):
        return [f"license: {licence}"]
    return ["license: other", f"license_name: {_yaml(_plain(licence))}"]


def _yaml(text: str) -> str:
    """A text as YAML takes it whatever is in it: JSON's strings are YAML's."""
    return json.dumps(text, ensure_ascii=False)


def _size(total: int) -> str:
    bounds = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"))
    return next((name for most, name in bounds if total < most), "100K<n<1M")


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
    return (
        "Each question shows a sentence that describes a video and the beginning of the next one, "
        "and asks which of four endings comes next. The right ending is the caption that was found "
        "with the video, unless `gold-source` says otherwise; the wrong ones were written by a "
        "language model and chosen by adversarial filtering, as in SWAG (Zellers et al., 2018)."
    )


def _files(files: Iterable[str]) -> str:
    rows = [[f"`{name}`", _told_of(name)] for name in sorted(files)]
    rows.append(["`manifest.json`", "hashes, recipe, versions, counts, policy, checks"])
    rows.append(["`run.json`", "when, where and how long; differs between equal releases"])
    return _table(["file", "what it holds"], rows)


def _told_of(name: str) -> str:
    found = (text for pattern, text in _KNOWN_FILES.items() if fnmatch.fnmatchcase(name, pattern))
    return next(found, "")


def _reading() -> str:
    return (
        "Texts such as `None` and `NA` are texts. Read the files with "
        '`pandas.read_csv("train.csv", keep_default_na=False)`.'
    )


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
    for name, what in (
        ("context", "context"),
        ("right", "right ending"),
        ("wrong", "wrong ending"),
    ):
        mean = counts["mean_words"][name]
        rows.append([f"words of a {what}, mean", "" if mean is None else f"{mean:.1f}", ""])
    return _table(["", "this release", "SWAG"], rows)


def _sources_table(counts: Mapping[str, Any]) -> str:
    rows = [[f"`{_plain(name)}`", f"{n:,}"] for name, n in counts["by_source"].items()]
    return _table(["source", "questions"], rows)


def _left_out(counts: Mapping[str, Any]) -> str:
    if not counts["left_out"]:
        return ""
    rows = [[_LEFT_OUT.get(why, why), f"{n:,}"] for why, n in counts["left_out"].items()]
    return _table(["contexts left out", "contexts"], rows)


# --- making and verifying ------------------------------------------------------------------------


def _making(manifest: Manifest) -> str:
    recipe = manifest["recipe"]
    p, g, f = recipe["prepare"], recipe["generate"], recipe["filter"]
    iterations = f["mlp_iterations"] + f["ensemble_iterations"]
    return (
        f"Pairs of consecutive captions (at most {p['max_gap']:g} s apart) were cut after the "
        f"second one's opening noun phrase (splitter `{p['splitter']}`). One function writes the "
        "text of found and generated endings from the same lowercased tokens, so that spelling, "
        "case and spacing do not tell them apart. "
        f"Up to {g['candidates']:,} endings per context were sampled from language models trained "
        f"in {p['folds']} folds; none has seen the video that it wrote for. Adversarial filtering "
        f"of at most {iterations} iterations with the classifiers {', '.join(f['members'])} kept "
        f"{f['distractors']} of them per context: those that are hard to tell from the found one. "
        f"{_feedback(manifest['feedback'])}"
        "Splits go by video or movie; none is in two of them. `manifest.json` has every setting, "
        "`provenance.jsonl` the way of each ending."
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
    problems = manifest["checks"]["problems"]
    if not problems:
        return (
            "Looked for and not found: repeated options, the right ending among the wrong ones, "
            "empty endings, a video or a context in two splits, a found ending that another "
            "split's context shows, unbalanced labels, control characters, stray space."
        )
    lines = []
    for problem in problems:
        level = problem["level"] + (
            ", overridden" if problem["kind"] in manifest["overrides"] else ""
        )
        lines.append(f"- {level}: {problem['sentence']}")
    if reason := _plain(manifest.get("override_reason", "")):
        lines += ["", f"Released all the same, since: {reason}"]
    return "\n".join(lines)


def _limits() -> str:
    return (
        "- Captions describe what annotators of the videos saw; they carry those people's slips "
        "and stereotypes.\n"
        "- Wrong endings come from small language models: some are odd rather than wrong, and a "
        "model can exploit that. Scores above chance do not show understanding.\n"
        "- The filter is adversarial to its own classifiers, not to every model.\n"
        '- "Right" means what happened in the video, or what annotators preferred; another '
        "ending may be as plausible."
    )


def _sources(manifest: Manifest) -> str:
    rows = [
        [f"`{_plain(s['file'])}`", s["format"], f"`{s['sha256'][:16]}`"]
        for s in manifest["sources"]
    ]
    licence = _plain(manifest["licence"])
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


def _plain(text: str) -> str:
    """One line that breaks no table and no code span."""
    return " ".join(text.split()).replace("|", "/").replace("`", "'")
