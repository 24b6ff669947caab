"""Codes of the engine in the words of a curator. Text only."""

from __future__ import annotations

from collections.abc import Mapping

from swag_studio.reviewing import BEFORE
from swag_studio.views import Origin

STAGE_TITLES = {
    "prepare": "Prepare",
    "train_lm": "Language models",
    "generate": "Candidates",
    "filter": "Filtering",
    "release": "Draft release",
}

# What the job panel says while a stage is at work.
STAGE_NAMES = {
    "preview": "Reading a file",
    "ingest": "Importing",
    "check": "Checking the project",
    "prepare": "Preparing contexts",
    "train_lm": "Training language models",
    "generate": "Sampling candidates",
    "filter": "Adversarial filtering",
    "release": "Writing the draft release",
    "rehearse": "Checking the release",
    "publish": "Writing the release",
    "simulate": "Simulating annotators",
}

FORMATS = {
    "activitynet": "ActivityNet Captions",
    "tacos": "TACoS",
    "lsmdc": "LSMDC16",
    "csv": "CSV",
    "tsv": "TSV",
    "jsonl": "JSON lines",
    "own": "Own candidates",
}

# Beside the counts of a file: what the published files of the format hold.
PUBLISHED = {
    "activitynet": "The published files hold 37,421 captions in 10,009 videos (train), 17,505 in "
    "4,917 (val_1) and 17,031 in 4,885 (val_2).",
}
PUBLISHED_CONTEXTS = "Published SWAG: 92,221 contexts from ActivityNet Captions and LSMDC."

# Why Prepare dropped a pair of captions.
PAIR_REASONS = {
    "unusable_caption": "one of the two captions cannot be used",
    "gap": "the pause between the captions is too long",
    "context_too_short": "the first sentence is too short",
    "context_too_long": "the first sentence is too long",
    "several_sentences": "the second caption has several sentences",
    "ending_too_short": "the ending is too short",
    "ending_too_long": "the ending is too long",
    "cut_within_word": "the ending would begin inside a word such as “don’t”",
    "cut_within_quotes": "the ending would begin inside quotation marks",
    "no_verb": "the second sentence has no main verb in the present or past",
    "no_subject": "the second sentence has no subject",
    "subject_after_verb": "the subject comes after the verb",
    "opener": "the second sentence begins with something long before its subject",
    "unclear_cut": "it is unclear where the ending begins",
    "unknown_word": "the ending has a word that its language model does not know",
    "equal_context": "an equal context is kept already",
    "duplicate_pair": "the same pair of captions is kept already",
    "empty_part": "a part of the own context is empty",
    "phrase_too_long": "the opening noun phrase is too long",
}

# What follows from people's answers to a context: in a column, and in a sentence.
VERDICTS = {
    "open": ("open", "Not judged yet, or not by enough people."),
    "found": ("found is right", "A question with the found ending right."),
    "reannotate": ("judge again", "Another round, with some of the endings replaced."),
    "surprising": ("surprising", "No round gave a question: people chose other endings."),
    "adjudicate": ("to settle", "The annotators are tied: someone has to settle it."),
}


def verdict(kind: str) -> str:
    """A verdict's kind in two or three words."""
    return VERDICTS.get(kind, (kind, ""))[0]


def since(iteration: int) -> str:
    """When a distractor came in; iterations are counted from 1 for people, from 0 in the engine."""
    if iteration == BEFORE:
        return "earlier run"
    return "first draw" if iteration < 0 else f"iteration {iteration + 1:,}"


def inherited(origin: Origin) -> str:
    """How a distractor came in that an earlier run left: "run 1, iteration 5"."""
    how = "by a curator" if origin.curator else ""
    if origin.since is not None:
        how = since(origin.since)
    return f"run {origin.run}, {how}" if how else f"run {origin.run}"


def reason(code: str, words: Mapping[str, str] = PAIR_REASONS) -> str:
    """A reason's code in words; the code itself, made readable, where a part brings its own."""
    text = words.get(code) or code.replace("_", " ")
    return text[:1].upper() + text[1:]


def count(number: int, one: str, many: str = "") -> str:
    """ "1 caption", "17,505 captions"."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def does(number: int, one: str, verb: str, verbs: str) -> str:
    """ "1 task waits", "3 tasks wait"."""
    return f"{count(number, one)} {verb if number == 1 else verbs}"


# Settings of the recipe whose names do not say enough by themselves.
SETTINGS = {
    "dtype": "Number type",
    "threads": "CPU threads",
    "max_gap": "Longest pause",
    "min_context_tokens": "Shortest first sentence",
    "max_context_tokens": "Longest first sentence",
    "min_ending_tokens": "Shortest ending",
    "max_ending_tokens": "Longest ending",
    "min_count": "Uses that make a word known",
    "val_share": "Validation share",
    "test_share": "Test share",
    "train_share": "Training share",
    "dev_share": "Development share",
    "max_contexts": "Contexts at most",
    "dim": "Width",
    "dropout_embedding": "Dropout of embeddings",
    "dropout_recurrent": "Dropout of states",
    "clip": "Gradient limit",
    "epochs": "Epochs at most",
    "batch": "Batch",
    "decay": "Slowing down",
    "pretrain_folder": "Plain text folder",
    "pretrain_epochs": "Plain text epochs",
    "checkpoint_steps": "Checkpoint every",
    "top_k": "Top-k",
    "top_p": "Top-p",
    "max_tokens": "Longest candidate",
    "draw_budget": "Draws at most",
    "floor": "Candidates at least",
    "found_openings": "Openings as found",
    "found_slips": "Slips as found",
    "replace": "Replaced at most",
    "policy": "Choice of replacements",
    "adaptive": "Adaptive count",
    "converge": "Stop when converged",
    "converge_window": "Convergence window",
    "embedding_dim": "Width of embeddings",
    "cnn_filters": "CNN filters",
    "pos_hidden": "POS hidden size",
    "pos_words": "POS words",
    "embeddings_file": "Word vectors file",
    "crossfit_folds": "Cross-fit folds",
    "strength_folds": "Folds for the strength",
}
