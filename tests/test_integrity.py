"""Files that are looked at without being loaded: what is found, and what is said to be whole."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from safetensors.numpy import load, save

from swag_studio import integrity
from swag_studio.files import sha256_of, write_bytes, write_json
from swag_studio.integrity import KINDS, Look

ARRAYS = {"a": np.arange(7, dtype=np.float32), "b": np.ones((2, 3), np.uint16)}
BYTES = save(ARRAYS, metadata={"info": "x"})


def problems(stage: str, folder: Path, summary: dict[str, object]) -> list[str]:
    return [look.told for look in integrity.looking(stage, folder, "x", summary) if look.problem]


# --- safetensors and JSON ------------------------------------------------------------------------


@given(st.integers(0, len(BYTES) - 1))
def test_a_file_that_was_cut_anywhere_is_found(
    tmp_path_factory: pytest.TempPathFactory, left: int
) -> None:
    path = tmp_path_factory.mktemp("cut") / "file.safetensors"
    path.write_bytes(BYTES)
    assert integrity.problem(path) == "" and load(path.read_bytes()).keys() == ARRAYS.keys()
    path.write_bytes(BYTES[:left])
    with pytest.raises(Exception, match=r"."):  # as the library has it
        load(path.read_bytes())
    assert integrity.problem(path)


def test_how_much_a_file_lacks_is_said(tmp_path: Path) -> None:
    path = tmp_path / "file.safetensors"
    path.write_bytes(BYTES[:-5])
    assert integrity.problem(path) == "5 bytes short"
    path.write_bytes(BYTES + b"12")
    assert integrity.problem(path) == "2 bytes too long"


@pytest.mark.parametrize(
    "bytes_", [b"", b"\xff" * 40, b"\2\0\0\0\0\0\0\0[]", b"\2\0\0\0\0\0\0\0{}x", b"junk" * 99]
)
def test_what_is_no_safetensors_file_is_found(tmp_path: Path, bytes_: bytes) -> None:
    path = tmp_path / "file.safetensors"
    path.write_bytes(bytes_)
    assert integrity.problem(path)


def test_json_is_read(tmp_path: Path) -> None:
    path = tmp_path / "file.json"
    assert integrity.problem(path) == "missing"
    for text, found in (("{}", ""), ("{", "damaged"), ("", "damaged"), ("[" * 9999, "damaged")):
        path.write_text(text)
        assert integrity.problem(path) == found


# --- results of stages -------------------------------------------------------------------------


def models(folder: Path) -> dict[str, object]:
    """Two models with their sums, as training leaves them; their summary."""
    for fold in range(2):
        write_bytes(folder / f"fold-{fold}.safetensors", BYTES)
        digest = hashlib.blake2b(BYTES, digest_size=16).hexdigest()
        write_json(folder / f"fold-{fold}.json", {"blake2b": digest})
    write_json(folder / "fold-0.samples.json", {})
    return {"folds": [{}, {}]}


def test_a_model_is_compared_with_its_sum(tmp_path: Path) -> None:
    summary = models(tmp_path)
    looks = list(integrity.looking("train_lm", tmp_path, "models/v1", summary))
    assert [look.problem for look in looks] == [""] * 5
    assert [look.name for look in looks if look.kind] == [
        "models/v1/fold-0.safetensors", "models/v1/fold-1.safetensors",
    ]  # fmt: skip
    data = bytearray(BYTES)
    data[-1] ^= 1
    (tmp_path / "fold-1.safetensors").write_bytes(data)
    (tmp_path / "fold-0.json").unlink()
    assert problems("train_lm", tmp_path, summary) == [
        "x/fold-0.json: missing",
        "x/fold-1.safetensors: its checksum does not match its contents",
    ]


def test_what_only_people_read_may_go(tmp_path: Path) -> None:
    summary = models(tmp_path)
    (tmp_path / "fold-0.samples.json").write_text("{")
    (tmp_path / "fold-1.json").write_text("{")
    found = [look for look in integrity.looking("train_lm", tmp_path, "x", summary) if look.problem]
    assert [(look.name, look.mend) for look in found] == [
        ("x/fold-0.samples.json", "drop"), ("x/fold-1.json", "anew"),
    ]  # fmt: skip


def test_every_iteration_of_a_filter_run_must_be_there(tmp_path: Path) -> None:
    summary: dict[str, object] = {"iterations": {"mlp": 1, "ensemble": 2}}
    for name in ("initial", "iteration-0000", "iteration-0002", "crossfit/fold-0"):
        write_bytes(tmp_path / f"{name}.safetensors", BYTES)
    write_bytes(tmp_path / ".iteration-0003.safetensors.1.tmp", b"of a kill")
    assert problems("filter", tmp_path, summary) == ["x/iteration-0001.safetensors: missing"]
    write_bytes(tmp_path / "crossfit" / "fold-0.safetensors", BYTES[:-1])
    assert problems("filter", tmp_path, summary)[0] == (
        "x/crossfit/fold-0.safetensors: 1 byte short"
    )


def filter_run(folder: Path) -> dict[str, object]:
    """A finished run of one iteration; its summary, without sums."""
    for name in ("initial", "iteration-0000", "crossfit/fold-0"):
        write_bytes(folder / f"{name}.safetensors", BYTES)
    for name in ("measures/probe-after", "evidence/iteration-0000"):
        write_json(folder / f"{name}.json", {"words": ["a dog", "the end"]})
    return {"iterations": {"mlp": 1}}


@given(st.data())
def test_a_bit_that_flipped_anywhere_in_a_filter_run_is_found(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    folder = tmp_path_factory.mktemp("flipped")
    summary = filter_run(folder) | integrity.sums("filter", folder)
    assert problems("filter", folder, json.loads(json.dumps(summary))) == []
    path = data.draw(st.sampled_from(sorted(p for p in folder.rglob("*.*") if p.is_file())))
    changed = bytearray(path.read_bytes())
    changed[data.draw(st.integers(0, len(changed) - 1))] ^= 1 << data.draw(st.integers(0, 7))
    path.write_bytes(changed)
    (found,) = (look for look in integrity.looking("filter", folder, "x", summary) if look.problem)
    assert folder / found.name.removeprefix("x/") == path
    assert found.mend == ("drop" if path.parent.name == "evidence" else "anew")


def test_a_file_that_a_sum_speaks_of_must_be_there_unless_it_may_go(tmp_path: Path) -> None:
    summary = filter_run(tmp_path) | integrity.sums("filter", tmp_path)
    for folder in ("measures", "evidence"):
        shutil.rmtree(tmp_path / folder)
    assert problems("filter", tmp_path, summary) == ["x/measures/probe-after.json: missing"]


def test_of_a_run_without_sums_it_is_said(tmp_path: Path) -> None:
    summary = filter_run(tmp_path)
    write_json(tmp_path / "crossfit" / "fold-0.json", {"blake2b": integrity._sum(
        tmp_path / "crossfit" / "fold-0.safetensors")})  # fmt: skip
    looks = list(integrity.looking("filter", tmp_path, "x", summary))
    assert [look.name for look in looks if not look.unsummed] == ["x/crossfit/fold-0.safetensors"]
    assert integrity.whole(looks) == (
        "6 files of filter runs are whole; an older program kept no sums of 5 of these files, "
        "which were looked at by their form and length"
    )
    summary |= integrity.sums("filter", tmp_path)
    looks = list(integrity.looking("filter", tmp_path, "x", summary))
    assert integrity.whole(looks) == "6 files of filter runs are whole"


# --- releases ----------------------------------------------------------------------------------


def release(folder: Path) -> Path:
    folder.mkdir(parents=True)
    (folder / "train.csv").write_text("a,b\n")
    write_json(folder / "manifest.json", {"files": {"train.csv": {
        "sha256": sha256_of(folder / "train.csv")}}})  # fmt: skip
    return folder


Harm = Callable[[Path], object]
HARMS: tuple[tuple[Harm, str], ...] = (
    (lambda folder: shutil.rmtree(folder), "missing"),
    (lambda folder: (folder / "train.csv").write_text("a,c\n"), "not as written: train.csv"),
    (lambda folder: (folder / "train.csv").unlink(), "not as written: train.csv"),
    (lambda folder: (folder / "manifest.json").unlink(), "manifest.json is missing or damaged"),
    (lambda folder: (folder / "manifest.json").write_text("[]"), "missing or damaged"),
    (
        lambda folder: (folder / "manifest.json").write_text('{"files": {}}'),
        "manifest.json is not as it was written",
    ),
)


@pytest.mark.parametrize(("harm", "said"), HARMS)
def test_a_verified_release_that_is_lost_or_changed_is_named(
    tmp_path: Path, harm: Harm, said: str
) -> None:
    folder = release(tmp_path / "releases" / "1.0.0")
    other = release(tmp_path / "releases" / "1.0.10")
    (tmp_path / "releases" / "v1").mkdir()
    written = {f.name: sha256_of(f / "manifest.json") for f in (folder, other)}
    assert [look.problem for look in integrity.verified_releases(tmp_path, written)] == ["", ""]
    harm(folder)
    first, second = integrity.verified_releases(tmp_path, written)
    assert (first.name, first.mend) == ("releases/1.0.0", "") and said in first.problem
    assert "under another version" in first.problem
    assert second == Look("releases/1.0.10", "", "release")


def test_a_release_of_an_older_program_is_compared_with_its_own_manifest(tmp_path: Path) -> None:
    folder = release(tmp_path / "releases" / "1.0.0")
    assert [look.problem for look in integrity.verified_releases(tmp_path, {})] == [""]
    (folder / "train.csv").write_text("")
    (look,) = integrity.verified_releases(tmp_path, {})
    assert "train.csv" in look.problem


# --- words -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("counts", "said"),
    [
        ({"database": 1}, "the database is whole"),
        ({"database": 1, "model": 1}, "the database and 1 model are whole"),
        (
            {"release": 2, "block": 1200, "": 9, "database": 1, "model": 4},
            "the database, 4 models, 1,200 blocks of candidates and 2 releases are whole",
        ),
    ],
)
def test_what_was_looked_at_is_said(counts: dict[str, int], said: str) -> None:
    looks = [Look("x", kind=kind) for kind, count in counts.items() for _ in range(count)]
    assert integrity.whole(looks) == said


def test_every_kind_of_look_has_words(tmp_path: Path) -> None:
    for stage in ("prepare", "train_lm", "filter", "release"):
        for look in integrity.looking(stage, tmp_path, "x", {"iterations": {"mlp": 1}}):
            assert look.kind in KINDS
    assert json.dumps(KINDS)
