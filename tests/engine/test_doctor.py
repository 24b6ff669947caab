from __future__ import annotations

from pathlib import Path

import pytest

from swag_studio.engine import doctor, spacy_model
from swag_studio.errors import StageError


def test_this_machine_is_examined(tmp_path: Path) -> None:
    findings = {f.name: f for f in doctor.examine(tmp_path)}
    assert list(findings) == [
        "SWAG Studio", "Python", "Packages", "SQLite", "Device", "Speed", "English model",
        "Free memory", "Free disk",
    ]  # fmt: skip
    assert findings["English model"].ok and findings["SQLite"].ok
    assert "torch 2" in findings["Packages"].value
    assert all(f.value for f in findings.values())


def test_what_is_not_right_has_a_remedy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing() -> str:
        raise StageError("No English spaCy model is installed. Install one.")

    monkeypatch.setattr(spacy_model, "installed", missing)
    monkeypatch.setattr(doctor, "sqlite_version", lambda: (3, 34, 1))
    monkeypatch.setattr(doctor, "NEEDS_DISK", 1 << 60)
    monkeypatch.setattr(doctor, "NEEDS_MEMORY", 1 << 60)
    wrong = {f.name: f for f in doctor.examine(tmp_path) if not f.ok}
    assert list(wrong) == ["SQLite", "English model", "Free memory", "Free disk"]
    assert wrong["SQLite"].value == "3.34.1"
    assert all(f.remedy for f in wrong.values())
