"""What is in each file of a release, and what each of its columns holds, in the card's words.

It knows the names that exporters, provenance and extras write, and nothing that is in a release.
Where a text has {judges} stands who judged: people, simulated annotators, or both.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

Columns = Mapping[str, str]

# Pattern of the file's name -> what it is.
FILES: Columns = {
    "train.csv": "training questions",
    "val.csv": "validation questions",
    "test.csv": "test questions, without labels",
    "test_key.csv": "the labels of test.csv, by row number",
    "train_full.csv": "training questions with all wrong endings and how {judges} saw them",
    "val_full.csv": "the same for validation",
    "provenance.jsonl": "where each ending came from, one line per question; it tells the right "
    "endings of the test set too",
    "surprising.jsonl": "contexts whose found ending {judges} rejected to the last "
    "round; no question was made of them",
    "preferences.jsonl": "generated endings that {judges} put above the found one (train only)",
    "everything.jsonl": "the questions as JSON lines with ids, types and sources; of the test "
    "split no answers",
    "hellaswag_*.jsonl": "the questions in HellaSwag's format",
    "*.parquet": "the questions as Parquet, with the columns of everything.jsonl",
    "lm_eval/*.jsonl": "the questions that the task for lm-evaluation-harness reads",
    "lm_eval/*": "a task for lm-evaluation-harness",
    "spreadsheet/*": "copies that a spreadsheet opens without taking a text for a formula; for "
    "looking only",
    "README.md": "this card",
}

_ROW = "row number within the file, from 0"
_TEXTS: Columns = {
    "startphrase": "`sent1`, a space, `sent2`: what is to be continued",
    "sent1": "the first sentence",
    "sent2": "the beginning of the second one, its opening noun phrase",
}
_CSV: Columns = {
    "(no name)": _ROW,
    "video-id": "the video (or movie clip) that both sentences are of",
    "fold-ind": "running number within the fold of the context; **not unique by itself**",
    **_TEXTS,
    "gold-source": "`gold`: the right ending is the found one; `gen`: it is a generated one that "
    "{judges} preferred to the found one (train only)",
    "ending0 ... ending3": "the endings, one right and three wrong, shuffled",
    "label": "the number of the right ending, 0 to 3 (not in test.csv)",
}
_KEY: Columns = {"(no name)": "row number in test.csv, from 0", "label": "as above"}
_FULL: Columns = {
    "video-id, fold-ind, startphrase, sent1, sent2": "as above",
    "gold-ending": "the right ending",
    "distractor-0 ... distractor-3": "the wrong endings, from unlikely to likely; the fourth may "
    "be empty",
    "gold-source": "`gold0`: {judges} found the right ending best, `gold1`: second best; `-orig`: "
    "in the first round, `-reannot`: after wrong endings were replaced; `gen-orig`: a generated "
    "ending is right; `gold-unverified`: nobody judged",
    "gold-type": "`pos`: {judges} called the right ending likely, `unl`: unlikely; empty where "
    "nobody judged",
    "distractor-0-type ... distractor-3-type": "the same for each wrong ending; empty where there "
    "is none, or nobody judged",
}
_EVERYTHING: Columns = {
    "id": "of the question; null in test, as all that follows from the right ending",
    "split, index": "`train`, `val` or `test`, and the row in the split's CSV file",
    "context_id": "of the context; null in test",
    "video_id": "as `video-id`",
    "group": "what is never divided between splits: the video, or the movie",
    "fold": "whose language model wrote the generated endings: one that never saw the group",
    "source_id": "of the source file",
    "document, position": "where the second sentence stands in the source, counted from 0",
    **_TEXTS,
    "endings": "the four endings, shuffled",
    "label": "the number of the right one, 0 to 3; null in test",
    "gold_source, full_source": "`gold-source` of the CSV and of the full files; the second is "
    "null in test",
    "verified": "whether {judges} judged it",
    "simulated": "whether a simulated annotator's answer counted",
    "right": "the right ending: `id`, `text`, `type` as in the full files, `kind` (`found`, "
    "`generated`, `own`, `edited`); null in test",
    "distractors": "all wrong endings, in the same way; null in test",
}
_HELLASWAG: Columns = {
    "ind": _ROW,
    "activity_label": "empty: the sources name no activity",
    "ctx_a, ctx_b, ctx": "`sent1`, `sent2`, `startphrase`",
    "split": "`train`, `val` or `test`",
    "split_type": "`indomain`: all splits are drawn from the same sources",
    "label": "the number of the right ending, 0 to 3 (not in test)",
    "endings": "the four endings, shuffled",
    "source_id": "the video",
}
_LM_EVAL: Columns = {
    "ind": "row in the split's CSV file, from 0",
    "startphrase, endings, label": "as above",
}
_PREFERENCES: Columns = {
    "context, video, split": "id of the context, its video, and always `train`",
    "prompt": "as `startphrase`",
    "chosen": "the generated ending that {judges} put first in one round of judging",
    "rejected": "the found ending, below it in that round",
    "rejected_rank": "in that round: `second` best, or `neither`; null where the answers are tied",
    "round": "which round, from 0; later ones show other endings in the place of some",
    "answers": "how many judgements or adjudications of that round this rests on",
    "verdict": "what came of the context in the end: `found` a question with the found ending "
    "right, `surprising` none; others: not settled when this was released",
}
_SURPRISING: Columns = {
    "context, video": "id of the context, and its video",
    "split": "where the context's group belongs",
    "sent1, sent2, found": "the context and its found ending",
    "rounds, answers": "rounds of judging, and judgements or adjudications of the last one",
    "reason": "why no question came of it",
    "endings": "what {judges} saw last: `text`, `kind`, and how many called it `likely`, "
    "`unlikely`, `gibberish`, `best`, `second`",
}
_PROVENANCE: Columns = {
    "id, split, index, label, gold_source, full_source, verified, simulated": "as in "
    "everything.jsonl, of the test split too",
    "verdict": "what the answers of {judges} came to: `kind`, `round` from 0, `place` of the found "
    "ending (0 best, 1 second best), `reason`; null where nobody judged",
    "policy": "which rules: `verification.policy_id` of manifest.json",
    "context, group, video, document, sentence": "ids, and where the second sentence stands in the "
    "source, counted from 0",
    "source": "the source's `file`, `format` and `sha256`",
    "captions": "both sentences word for word as in the source: `sentence`, `start` and `end` in "
    "seconds, `text`",
    "splitter": "what cut the second sentence; null where the source has it cut",
    "edits": "the curators' changes: `by`, `run`, `what`, `undone`, and endings `out` and `in`",
    "endings": "the endings, in the question's order, then a fourth wrong one:",
    "endings: place": "in the question, from 0; null of a fourth wrong ending",
    "endings: id, text, kind, type, right": "as in everything.jsonl, and whether it is right",
    "endings: generator": "how it was sampled: `fold`, `checkpoint` (BLAKE2b of the file of "
    "weights, 128 bits), `seed`, `temperature`, `top_k`, `top_p`, `max_tokens`; null where no "
    "model here did",
    "endings: pool_row": "row among the context's candidates, 0 the found one; null if it is none",
    "endings: assigned": "when the filter had it assigned: filter `run`, brought in `by` (`draw`, "
    "`filter`, `run`, `curator`), `in` and `out` of which iteration (-1 the start, null none)",
    "endings: score": "the ensemble's, from cross-fitting: higher looks more like a found ending; "
    "null where it was not assigned at the end",
    "endings: parents": "of an edited one what it was made from, nearest first: `id`, `text`, "
    "`kind`, who edited it (`edited_by`), and its own `generator`, `pool_row`, `assigned`, `score`",
    "endings: judgements": "what {judges} said of it: `by` (a pseudonym of this release), `round`, "
    "`label`, `rank`",
}


@dataclass(frozen=True, slots=True)
class Table:
    """The columns of some files: `heading` names them, `first` is one that tells they are there."""

    heading: str
    first: str
    columns: Columns


TABLES = (
    Table("train.csv, val.csv, test.csv:", "train.csv", _CSV),
    Table("test_key.csv:", "test_key.csv", _KEY),
    Table("train_full.csv, val_full.csv:", "train_full.csv", _FULL),
    Table("everything.jsonl, and the Parquet files:", "everything.jsonl", _EVERYTHING),
    Table("hellaswag_train.jsonl and the others:", "hellaswag_train.jsonl", _HELLASWAG),
    Table("lm_eval/train.jsonl, lm_eval/val.jsonl:", "lm_eval/train.jsonl", _LM_EVAL),
    Table("preferences.jsonl:", "preferences.jsonl", _PREFERENCES),
    Table("surprising.jsonl:", "surprising.jsonl", _SURPRISING),
    Table("provenance.jsonl:", "provenance.jsonl", _PROVENANCE),
)
