"""lm-evaluation-harness scores a tiny checkpoint, made here, on the task that a release brings."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
import torch
from made_releases import Released

from swag_studio.engine import released as reading
from swag_studio.engine.exporters.lm_eval import FOLDER, TASK

pytest.importorskip("lm_eval")
transformers = pytest.importorskip("transformers")
tokenizers = pytest.importorskip("tokenizers")
pytestmark = pytest.mark.interop

LONGEST = 1024  # tokens, each a byte: a text that is longer would be cut
TOLERANCE = 1e-3  # of a log probability: batches are padded, and sums of floats go by another order

Score = Callable[[str, Sequence[str]], list[float]]


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A random GPT-2 of two layers, with a tokeniser of bytes."""
    folder = tmp_path_factory.mktemp("checkpoint")
    alphabet = sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {token: i for i, token in enumerate(["<end>", *alphabet])}
    made = tokenizers.Tokenizer(tokenizers.models.BPE(vocabulary, []))
    made.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = tokenizers.decoders.ByteLevel()
    wrapped = transformers.PreTrainedTokenizerFast(
        tokenizer_object=made, bos_token="<end>", eos_token="<end>", pad_token="<end>",
        model_max_length=LONGEST,
    )  # fmt: skip
    wrapped.save_pretrained(folder)
    torch.manual_seed(0)
    config = transformers.GPT2Config(
        vocab_size=len(vocabulary), n_positions=LONGEST, n_embd=16, n_layer=2, n_head=2,
        bos_token_id=0, eos_token_id=0, initializer_range=0.2,  # has preferences, by chance
    )  # fmt: skip
    transformers.GPT2LMHeadModel(config).save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def score(checkpoint: Path) -> Score:
    """Each ending's log probability after a text: by hand, one at a time."""
    tokeniser = transformers.AutoTokenizer.from_pretrained(checkpoint)
    model = transformers.AutoModelForCausalLM.from_pretrained(checkpoint).eval()

    def one(start: int, ids: list[int]) -> float:
        assert len(ids) <= LONGEST
        with torch.no_grad():
            logs = model(torch.tensor([ids])).logits[0].log_softmax(-1)
        return sum(float(logs[i - 1, ids[i]]) for i in range(start, len(ids)))

    def of(text: str, endings: Sequence[str]) -> list[float]:
        start = len(tokeniser(text)["input_ids"])
        return [one(start, tokeniser(f"{text} {ending}")["input_ids"]) for ending in endings]

    return of


def evaluated(folder: Path, checkpoint: Path, work: Path) -> tuple[dict[str, Any], list[Any]]:
    """What the harness tells of the task in a release: results, and a sample per question."""
    command = [sys.executable, "-m", "lm_eval", "--model", "hf", "--device", "cpu"]
    command += ["--model_args", f"pretrained={checkpoint},dtype=float32", "--tasks", TASK]
    command += ["--include_path", str(folder / FOLDER), "--output_path", str(work / "out")]
    command += ["--batch_size", "4", "--log_samples"]
    done = subprocess.run(
        command,
        cwd=work,  # not the release: its paths must not depend on it
        env={**os.environ, "HF_HOME": str(work / "home")},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    (results,) = (work / "out").rglob("results_*.json")
    (samples,) = (work / "out").rglob("samples_*.jsonl")
    rows = [json.loads(line) for line in samples.read_text("utf-8").split("\n") if line]
    return json.loads(results.read_text("utf-8")), sorted(rows, key=lambda row: row["doc_id"])


def test_the_task_runs_and_its_accuracy_is_right(
    released: Released, checkpoint: Path, score: Score, tmp_path: Path
) -> None:
    told, samples = evaluated(released.folder, checkpoint, tmp_path)
    assert reading.unlisted(released.folder) == reading.damaged(released.folder) == []
    questions = released.of("val")
    count = released.manifest["counts"]["questions"]["val"]["all"]
    assert len(questions) == len(samples) == told["n-samples"][TASK]["original"] == count

    sure, unsure = {"acc": 0, "acc_norm": 0}, {"acc": 0, "acc_norm": 0}
    for q, sample in zip(questions, samples, strict=True):
        mine = score(f"{q.sent1} {q.sent2}", q.endings)
        theirs = [float(logs) for ((logs, _greedy),) in sample["resps"]]
        assert theirs == pytest.approx(mine, abs=TOLERANCE)
        assert sample["target"] in (q.label, str(q.label))
        lengths = [len(ending) for ending in q.endings]
        for metric, by in (("acc", [1] * 4), ("acc_norm", lengths)):
            values = [s / n for s, n in zip(mine, by, strict=True)]
            lead = values[q.label] - max(v for i, v in enumerate(values) if i != q.label)
            sure[metric] += lead > TOLERANCE
            unsure[metric] += abs(lead) <= TOLERANCE
    for metric, hits in sure.items():
        right = round(told["results"][TASK][f"{metric},none"] * count)
        assert hits <= right <= hits + unsure[metric]
        assert unsure[metric] <= 0.02 * count  # next to none is left to rounding
