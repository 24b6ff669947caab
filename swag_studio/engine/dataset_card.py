"""README.md of a release: a dataset card with Hugging Face front matter, in plain words.

Made from the release's manifest alone, so it says what the manifest says. It knows no project.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Container, Iterable, Iterator, Mapping
from typing import Any

from swag_studio.engine.card_columns import FILES, TABLES
from swag_studio.engine.card_front import Manifest, front_matter, plain, title
from swag_studio.engine.card_statistics import (
    kinds,
    left_out,
    number,
    sources_table,
    statistics,
    table,
)

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

# What the manifest calls those who judged, in the card's words.
_JUDGES = {
    "people": "people",
    "simulation": "simulated annotators",
    "people and simulation": "people and simulated annotators",
    "nobody": "annotators",
}

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


def card(manifest: Manifest) -> str:
    """The card's text. Of the card itself `manifest` may lack the hash."""
    judges = _JUDGES[manifest["verification"]["by"]]
    parts = [
        front_matter(manifest),
        f"# {title(manifest)} {manifest['version']}",
        *_warnings(manifest),
        _summary(manifest),
        "## Files",
        _files(manifest["files"], judges),
        _reading(),
        "## Columns",
        *_columns(manifest["files"], judges),
        "## Statistics",
        statistics(manifest["counts"]),
        kinds(manifest["counts"]),
        sources_table(manifest["counts"]),
        left_out(manifest["counts"]),
        "## How it was made",
        _making(manifest),
        "## Who verified it",
        *_verification(manifest["verification"]),
        "## Checks",
        _checks(manifest),
        "## Limits",
        _limits(manifest, judges),
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
    wrote = [
        *(["were written by a language model"] if formats != {"own"} else []),
        *(["came with the source"] if "own" in formats else []),
        *(["were edited by a person"] if manifest["counts"]["edited_endings"] else []),
    ]
    return (
        f"Each question shows {shown}, and asks which of four endings comes next. The right ending "
        f"is the {found}, unless `gold-source` says otherwise; the wrong ones "
        f"{' or '.join(wrote)}, and were chosen by adversarial filtering, as in SWAG (Zellers et "
        "al., 2018)."
    )


def _files(files: Iterable[str], judges: str) -> str:
    rows = [[f"`{name}`", _told_of(name).format(judges=judges)] for name in sorted(files)]
    rows.append(["`manifest.json`", "hashes, recipe, versions, counts, policy, checks"])
    rows.append(
        [
            "`run.json`",
            "when it was written, where and how long each stage worked; differs "
            "between equal releases",
        ]
    )
    return table(["file", "what it holds"], rows)


def _told_of(name: str) -> str:
    found = (text for pattern, text in FILES.items() if fnmatch.fnmatchcase(name, pattern))
    return next(found, "")


def _reading() -> str:
    return (
        "Texts such as `None` and `NA` are texts. Read the files with "
        '`pandas.read_csv("train.csv", keep_default_na=False)` or '
        '`datasets.load_dataset("csv", data_files="train.csv", keep_default_na=False)`; '
        "`datasets.load_dataset` of this folder does so by itself. What few lines of "
        "`provenance.jsonl` have, such as edits, is known when it is read at once: "
        '`datasets.load_dataset("json", data_files="provenance.jsonl", chunksize=1 << 30)`.'
    )


def _columns(files: Container[str], judges: str) -> Iterator[str]:
    """The columns of the files that there are."""
    for told in TABLES:
        if told.first in files:
            yield told.heading
            rows = _quoted(told.columns, judges)
            yield table(["column", "what it holds"], rows)


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
        moved = f"{number(run['contexts'], 'context')} moved"
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
    policy, judges = people["policy"], _JUDGES[people["by"]]
    simulation = people["by"] == "simulation"
    looks = "A simulated annotator stands for one who sees" if simulation else "An annotator sees"
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
        f"{'; '.join(who)}. {looks} six endings without their source, labels each "
        "likely, unlikely or gibberish, and names the best and the second best. A question needs "
        f"at least {number(policy['judgements'], 'judgement')}; its found ending must be "
        f"{'best' if policy['top_places'] == 1 else 'best or second best'}, and wrong endings are "
        "those that are neither gibberish nor chosen. After a failed round, gibberish and endings "
        "above the found one are replaced, for at most "
        f"{number(policy['further_rounds'], 'round')} more."
    )
    rows = [
        [name, *(_share(said[what]) for what in ("likely", "unlikely", "gibberish")),
         _share(said["best"]), _share(said["second"]), f"{said['endings']:,}"]
        for name, said in people["said"].items()
    ]  # fmt: skip
    columns = ["endings", "likely", "unlikely", "gibberish", "best", "second best", "rated"]
    return [text, table(columns, rows), _agreement(people["agreement"], judges)]


def _agreement(agreement: Mapping[str, Any], judges: str) -> str:
    if not agreement["tasks"]:
        return "No context was judged by two annotators, so agreement is not known."
    parts = []
    for measure, what in (("choices", "best / second best / neither"), ("labels", "labels")):
        alpha, percent = agreement[measure]["alpha"], agreement[measure]["percent"]
        value = "undefined" if alpha is None else f"{alpha:.2f}"
        equal = "" if percent is None else f", {percent:.0%} of pairs of ratings equal"
        parts.append(f"{what}: Krippendorff's alpha {value}{equal}")
    return f"Agreement of {judges} on {agreement['tasks']:,} tasks: {'; '.join(parts)}."


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
            f"In {number(count, 'question')} the found ending goes on as the context of another "
            "question of its split, as consecutive sentences do."
        )
    return "\n\n".join(parts)


def _problem(manifest: Manifest, problem: Mapping[str, Any]) -> str:
    overridden = ", overridden" if problem["kind"] in manifest["overrides"] else ""
    return f"- {problem['level']}{overridden}: {problem['sentence']}"


def _limits(manifest: Manifest, judges: str) -> str:
    return "\n".join(
        f"- {limit}"
        for limit in (
            "The sources' texts carry their writers' slips and stereotypes.",
            f"Wrong endings come from {_writers(manifest)}: some are odd rather than wrong, and a "
            "model can exploit that. Scores above chance do not show understanding.",
            "The filter is adversarial to its own classifiers, not to every model.",
            "The found endings stand in the sources, so whoever has those can look up the answers "
            "of the test set.",
            _answers_in_contexts(manifest),
            f'"Right" means what happened in the video, or what {judges} preferred; another '
            "ending may be as plausible.",
        )
        if limit
    )


def _writers(manifest: Manifest) -> str:
    """What wrote the wrong endings, but for those that a person edited."""
    formats = {source["format"] for source in manifest["sources"]}
    models = ["small language models"] if formats != {"own"} else []
    return " or ".join([*models, *(["the generator of the source"] if "own" in formats else [])])


def _answers_in_contexts(manifest: Manifest) -> str:
    """How many answers of the test set the test set itself tells; "" where none."""
    found = manifest["checks"]["continued_in"]["test"]
    total = manifest["counts"]["questions"]["test"]["all"]
    if not found:
        return ""
    return (
        f"Of the {total:,} questions of the test set {found:,} have their answer in `test.csv` "
        "itself: what happens next in a video is `sent1` of the question after. Whoever lets a "
        "model see one question with another shows it these."
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
    made = f"Made with {package['name']} {package['version']}. {_made_with(manifest['stages'])}"
    return "\n\n".join([table(["file", "format", "SHA-256 begins"], rows), told, made])


def _made_with(stages: Mapping[str, Any]) -> str:
    """The versions that the result depends on, where they were the same throughout."""
    made_with = [told for stage in stages.values() for told in stage["made_with"]]
    if None in made_with:
        return "Not of every stage is it known with which versions of other packages it was made."
    first, *others = made_with
    if any(told != first for told in others):
        return "Stages were made with different versions of packages: see `manifest.json`."
    versions = (f"{name} {version}" for name, version in first.items() if version)
    return f"Its stages were made with {', '.join(versions)}."


# --- Markdown --------------------------------------------------------------------------------


def _quoted(columns: Mapping[str, str], judges: str) -> list[list[str]]:
    told = ((name, what.format(judges=judges)) for name, what in columns.items())
    return [[f"`{name}`" if name[0] != "(" else name, what] for name, what in told]


def _share(value: float | None) -> str:
    return "" if value is None else f"{value:.1%}"
