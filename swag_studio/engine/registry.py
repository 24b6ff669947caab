"""All parts that can be chosen by name, in one table, loaded on first use.

A new source, splitter, member or exporter is one file and one line here.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from typing import Any

from swag_studio.errors import RecipeError


class Registry:
    """name -> "module:attribute"; the module is imported when a part is first asked for."""

    def __init__(self, kind: str, parts: dict[str, str]) -> None:
        self.kind, self._parts = kind, parts

    def __getitem__(self, name: str) -> Any:
        if name not in self._parts:
            raise RecipeError(
                f"unknown {self.kind} {name}. Known: {', '.join(sorted(self._parts))}."
            )
        module, _, attribute = self._parts[name].partition(":")
        return getattr(importlib.import_module(module), attribute)

    def __iter__(self) -> Iterator[str]:
        return iter(self._parts)

    def __contains__(self, name: object) -> bool:
        return name in self._parts


_E = "swag_studio.engine"

SOURCES = Registry(
    "source",
    {
        "activitynet": f"{_E}.sources.activitynet:ActivityNet",
        "tacos": f"{_E}.sources.tacos:Tacos",
        "lsmdc": f"{_E}.sources.lsmdc:Lsmdc",
        "csv": f"{_E}.sources.table:Csv",
        "tsv": f"{_E}.sources.table:Tsv",
        "jsonl": f"{_E}.sources.table:JsonLines",
        "own": f"{_E}.sources.own:OwnCandidates",
    },
)

SPLITTERS = Registry(
    "splitter",
    {
        "spacy": f"{_E}.splitters.spacy_dependency:SpacySplitter",
    },
)

MEMBERS = Registry(
    "member",
    {
        "mlp": f"{_E}.members.mlp:Mlp",
        "bow": f"{_E}.members.bow:BagOfWords",
        "cnn": f"{_E}.members.cnn:Cnn",
        "pos": f"{_E}.members.pos:PosBiLstm",
        "gibberish": f"{_E}.members.gibberish:Gibberish",
    },
)

EXPORTERS = Registry(
    "exporter",
    {
        "swag_csv": f"{_E}.exporters.swag_csv:SwagCsv",
        "swag_full": f"{_E}.exporters.swag_full:SwagFull",
        "hellaswag": f"{_E}.exporters.hellaswag:HellaSwag",
        "everything": f"{_E}.exporters.everything:Everything",
        "parquet": f"{_E}.exporters.parquet:Parquet",
        "lm_eval": f"{_E}.exporters.lm_eval:LmEval",
        "spreadsheet": f"{_E}.exporters.spreadsheet:Spreadsheet",
    },
)
