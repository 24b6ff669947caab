"""lm-evaluation-harness scores a tiny checkpoint, made here, on the task that a release brings."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import torch

from swag_studio.engine.exporters.lm_eval import FOLDER, TASK
from swag_studio.records import Question

pytest.importorskip("lm_eval")
transformers = pytest.importorskip("transformers")
tokenizers = pytest.importorskip("tokenizers")
pytestmark = pytest.mark.interop


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
        model_max_length=256,
    )  # fmt: skip
    wrapped.save_pretrained(folder)
    torch.manual_seed(0)
    config = transformers.GPT2Config(
        vocab_size=len(vocabulary), n_positions=256, n_embd=16, n_layer=2, n_head=2,
        bos_token_id=0, eos_token_id=0,
    )  # fmt: skip
    transformers.GPT2LMHeadModel(config).save_pretrained(folder)
    return folder


def scores(checkpoint: Path, text: str, endings: Sequence[str]) -> tuple[list[float], list[float]]:
    """Each ending's log probability after the text, in all and per character: by hand."""
    tokeniser = transformers.AutoTokenizer.from_pretrained(checkpoint)
    model = transformers.AutoModelForCausalLM.from_pretrained(checkpoint).eval()
    start = tokeniser(text)["input_ids"]
    sums = []
    for ending in endings:
        ids = tokeniser(f"{text} {ending}")["input_ids"]
        with torch.no_grad():
            logs = model(torch.tensor([ids])).logits[0].log_softmax(-1)
        sums.append(sum(float(logs[i - 1, ids[i]]) for i in range(len(start), len(ids))))
    # An ending that is empty has no length to divide by.
    return sums, [s / max(1, len(e)) for s, e in zip(sums, endings, strict=True)]


def test_the_task_runs_and_its_accuracy_is_right(
    release: Path, questions: list[Question], checkpoint: Path, tmp_path: Path
) -> None:
    command = [sys.executable, "-m", "lm_eval", "--model", "hf", "--device", "cpu"]
    command += ["--model_args", f"pretrained={checkpoint},dtype=float32", "--tasks", TASK]
    command += ["--include_path", str(release / FOLDER), "--output_path", str(tmp_path / "out")]
    command += ["--batch_size", "4", "--log_samples"]
    caches = {"HF_HOME": str(tmp_path / "home"), "HF_HUB_OFFLINE": "1"}
    done = subprocess.run(
        command,
        cwd=tmp_path,  # not the release: its paths must not depend on it
        env={**os.environ, **caches},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    (results,) = (tmp_path / "out").rglob("results_*.json")
    told: dict[str, Any] = json.loads(results.read_text("utf-8"))["results"][TASK]

    validation = [q for q in questions if q.split == "val"]
    hits = {"acc": 0, "acc_norm": 0}
    for q in validation:
        sums, means = scores(checkpoint, f"{q.sent1} {q.sent2}", q.endings)
        hits["acc"] += max(range(4), key=sums.__getitem__) == q.label
        hits["acc_norm"] += max(range(4), key=means.__getitem__) == q.label
    assert json.loads(results.read_text("utf-8"))["n-samples"][TASK]["original"] == len(validation)
    for metric, count in hits.items():
        assert told[f"{metric},none"] == pytest.approx(count / len(validation))
