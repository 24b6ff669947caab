"""The sections of a recipe: one frozen dataclass per stage, each field with its help and range.

What stands here is all that a form, a command line or a check needs to know of a setting.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any


def setting(
    default: Any,
    help: str,
    *,
    low: float | None = None,
    high: float | None = None,
    unit: str = "",
    choices: Sequence[str] = (),
    later: bool = False,
    outside: bool = False,
) -> Any:
    """A recipe field with its help text, inclusive range, unit, or the values it may take.

    `later`: the field came when there were results already. Its default changes none of them, and
    is left out of the stages' keys. `outside`: a file or folder outside the project, which counts
    by what is in it (outside.py).
    """
    metadata = {"help": help, "low": low, "high": high, "unit": unit, "choices": tuple(choices)}
    return field(default=default, metadata={**metadata, "later": later, "outside": outside})


@dataclass(frozen=True, slots=True)
class RunRecipe:
    """What every stage depends on."""

    seed: int = setting(1, "Seed from which all others derive.", low=0, high=2**31 - 1)
    threads: int = setting(
        2, "CPU threads for torch. Part of the recipe: sums depend on it.", low=1, high=256
    )
    device: str = setting(
        "auto",
        "Where the models run.",
        choices=("auto", "cpu", "cuda", "mps"),
    )
    dtype: str = setting(
        "auto",
        "Number type for sampling and scoring; auto measures which is fastest.",
        choices=("auto", "float32", "bfloat16"),
    )


@dataclass(frozen=True, slots=True)
class PrepareRecipe:
    """From captions to contexts."""

    splitter: str = setting("spacy", "How the second sentence is cut after its noun phrase.")
    max_gap: float = setting(
        25.0, "Longest pause between two captions of a pair.", low=0, high=1e6, unit="s"
    )
    min_context_tokens: int = setting(6, "Shortest first sentence.", low=1, high=100, unit="tokens")
    max_context_tokens: int = setting(
        100, "Longest first sentence.", low=1, high=1000, unit="tokens"
    )
    min_ending_tokens: int = setting(
        5, "Shortest ending, final stop included.", low=1, high=100, unit="tokens"
    )
    max_ending_tokens: int = setting(
        25, "Longest ending, final stop included.", low=2, high=100, unit="tokens"
    )
    min_count: int = setting(
        3, "A word seen less often in a fold's training captions is unknown to it.", low=1, high=100
    )
    folds: int = setting(
        5, "Language models; each samples for the groups it never saw.", low=2, high=20
    )
    val_share: float = setting(
        0.225, "Share of the groups in the validation split.", low=0.0, high=0.5
    )
    test_share: float = setting(0.225, "Share of the groups in the test split.", low=0.0, high=0.5)
    max_contexts: int = setting(
        0,
        "Contexts to go on with, drawn by group; 0 takes all. The language models still train "
        "on every caption.",
        low=0,
        high=10_000_000,
        unit="contexts",
    )


@dataclass(frozen=True, slots=True)
class LmRecipe:
    """The two-way language model of each fold (METHOD: 2-layer LSTM each way, tied embeddings)."""

    dim: int = setting(512, "Width of embeddings and LSTM.", low=8, high=4096, unit="dimensions")
    layers: int = setting(2, "LSTM layers each way.", low=1, high=4)
    dropout_embedding: float = setting(0.2, "Share of embedding values dropped.", low=0, high=0.9)
    dropout_recurrent: float = setting(0.2, "Share of recurrent values dropped.", low=0, high=0.9)
    learning_rate: float = setting(1e-3, "Adam's step.", low=1e-6, high=1.0)
    weight_decay: float = setting(1e-6, "L2 penalty.", low=0, high=1.0)
    clip: float = setting(1.0, "Largest gradient norm.", low=0.01, high=1e6)
    epochs: int = setting(15, "Most passes over the captions.", low=1, high=1000, unit="epochs")
    batch: int = setting(32, "Sequences per step.", low=1, high=4096, unit="sequences")
    decay: float = setting(
        0.5, "The step is multiplied by this after an epoch without progress.", low=0.01, high=1.0
    )
    patience: int = setting(
        2, "Epochs without progress before training stops.", low=1, high=100, unit="epochs"
    )
    dev_share: float = setting(
        0.05, "Share of the training groups kept aside to stop early.", low=0.005, high=0.5
    )
    pretrain_folder: str = setting(
        "", "Folder of plain text files to train on first; empty: none.", outside=True
    )
    pretrain_epochs: int = setting(2, "Passes over the plain text.", low=1, high=100, unit="epochs")
    checkpoint_steps: int = setting(
        500, "Steps between checkpoints: what a kill can cost.", low=1, high=1_000_000, unit="steps"
    )


@dataclass(frozen=True, slots=True)
class GenerateRecipe:
    """Sampling of the candidates."""

    candidates: int = setting(1023, "Candidates per context.", low=3, high=65_000)
    temperature: float = setting(1.0, "Below 1 safer words, above 1 bolder.", low=0.05, high=10.0)
    top_k: int = setting(0, "Draw among this many likeliest words; 0: all.", low=0, high=65_000)
    top_p: float = setting(
        1.0, "Draw among the likeliest words of this total probability.", low=0.01, high=1.0
    )
    max_tokens: int = setting(25, "Longest candidate.", low=2, high=100, unit="tokens")
    draw_budget: float = setting(
        2.0, "Most draws per context, as a multiple of the candidates.", low=1.0, high=100.0
    )
    floor: int = setting(
        64, "A context with fewer different candidates is left out.", low=3, high=65_000
    )
    contexts_per_block: int = setting(
        16, "Contexts per pool block: the unit of work and of resuming.", low=1, high=1024
    )
    score_own: bool = setting(
        True, "Score own candidates with the project's language models; else no MLP features."
    )


@dataclass(frozen=True, slots=True)
class FilterRecipe:
    """Adversarial Filtering and its ensemble."""

    distractors: int = setting(9, "Distractors assigned per context (k).", low=3, high=100)
    found_openings: bool = setting(
        True,
        "Assign no sampled ending that opens with a word with which no found ending of the project "
        "opens: it would go on with the noun phrase.",
    )
    found_slips: bool = setting(
        True,
        "Assign no sampled ending with a slip that no found ending of the project has: that word "
        "twice in a row, a quote or bracket without its partner.",
    )
    replace: int = setting(
        2, "Most distractors replaced per context and iteration.", low=1, high=100
    )
    policy: str = setting(
        "random",
        "Which easy distractors go and which candidates come in.",
        choices=("random", "hardest", "softmax"),
    )
    softmax_temperature: float = setting(1.0, "Of the softmax policy.", low=0.01, high=100.0)
    adaptive: bool = setting(
        False, "HellaSwag's count: 0, 1 or 2 replaced, by the iteration's 2-way accuracy."
    )
    mlp_iterations: int = setting(100, "Iterations with the MLP alone.", low=0, high=10_000)
    ensemble_iterations: int = setting(50, "Iterations with all members.", low=0, high=10_000)
    converge: bool = setting(False, "End a phase when its 4-way accuracy has stopped falling.")
    converge_window: int = setting(
        20, "Iterations over which it must have stopped.", low=4, high=1000, unit="iterations"
    )
    members: tuple[str, ...] = setting(("mlp", "bow", "cnn", "pos"), "Members of the ensemble.")
    train_share: float = setting(
        0.8, "Share of contexts the iteration trains on.", low=0.1, high=0.95
    )
    dev_share: float = setting(0.1, "Share of those kept aside to stop early.", low=0.02, high=0.5)
    epochs: int = setting(10, "Most passes per iteration.", low=1, high=1000, unit="epochs")
    patience: int = setting(
        2, "Epochs without progress before training stops.", low=1, high=100, unit="epochs"
    )
    learning_rate: float = setting(1e-3, "Adam's step.", low=1e-6, high=1.0)
    weight_decay: float = setting(1e-6, "L2 penalty of the ensemble.", low=0, high=1.0)
    mlp_weight_decay: float = setting(1e-4, "L2 penalty of the MLP alone.", low=0, high=1.0)
    batch: int = setting(128, "Endings per step, all members.", low=2, high=65_536, unit="endings")
    mlp_batch: int = setting(
        512, "Endings per step, MLP alone.", low=2, high=65_536, unit="endings"
    )
    dropout: float = setting(0.2, "Dropout in the members.", low=0, high=0.9)
    mlp_width: int = setting(2048, "Width of the MLP's two layers.", low=8, high=8192)
    ensemble_width: int = setting(2048, "Width of the layer on top.", low=8, high=8192)
    embedding_dim: int = setting(100, "Width of word embeddings.", low=8, high=1024)
    cnn_filters: int = setting(128, "Filters of each size 2 to 5.", low=4, high=1024)
    pos_hidden: int = setting(200, "Hidden size of the POS biLSTM.", low=4, high=1024)
    pos_words: int = setting(100, "Words that the POS biLSTM sees as words.", low=0, high=10_000)
    embeddings_file: str = setting(
        "",
        "GloVe or Numberbatch text file for the bag of words; empty: learned from scratch.",
        outside=True,
    )
    control_arm: bool = setting(
        True, "Train the same classifiers on random distractors that are never filtered."
    )
    probe: bool = setting(True, "Try a word biLSTM that never filters, before and after.")
    crossfit_folds: int = setting(
        5, "Folds of the ensemble that scores the endings at the end.", low=2, high=20
    )
    strength_folds: int = setting(
        5,
        "Folds for I(D, f), the adversary's strength, at start and end; 0: leave out.",
        low=0,
        high=20,
    )
    feedback: str = setting(
        "",
        "The run that this one goes on from and what people said of it, as filter-again kept it; "
        "empty: a run from a random draw.",
        later=True,
    )
    bar_gibberish: bool = setting(
        False,
        "After feedback: keep out what a classifier trained on people's labels calls gibberish.",
        later=True,
    )


@dataclass(frozen=True, slots=True)
class ReleaseRecipe:
    """The draft, which the pipeline makes; a release with a version is asked for by itself."""

    distractors: int = setting(
        3,
        "Wrong endings per question of the draft. A release with a version has three in each "
        "question, and a fourth in its full files where there is one.",
        low=3,
        high=4,
    )
