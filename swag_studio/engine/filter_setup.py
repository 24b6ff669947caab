"""What a filter run works with: corpus, pool, members, phases, device, and the shape of ensembles.

All of it follows from the recipe and the stages before; nothing here changes while the filter
runs.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from swag_studio import outside
from swag_studio.engine import runtime
from swag_studio.engine.corpus import Corpus, Vocabulary
from swag_studio.engine.ensemble import JOINT, EnsembleSpec, needs_features, needs_tags
from swag_studio.engine.filter_items import Source
from swag_studio.engine.gibberish import Gibberish
from swag_studio.engine.members.pretrained import load_embeddings
from swag_studio.engine.tagging import TagCache, Tagger
from swag_studio.errors import StageError
from swag_studio.pool import Pool
from swag_studio.project import Project
from swag_studio.recipe import FilterRecipe, Recipe, from_toml
from swag_studio.records import Artifact


@dataclass(frozen=True)
class Phase:
    """Iterations with the same members."""

    name: str
    members: tuple[str, ...]
    iterations: int
    head: str  # whose curve tells whether the phase has converged


def phases(recipe: FilterRecipe, members: tuple[str, ...]) -> list[Phase]:
    """The phases that these members can go through, those with iterations."""
    head = JOINT if len(members) > 1 else members[0]
    both = [
        Phase("mlp", ("mlp",), recipe.mlp_iterations if "mlp" in members else 0, "mlp"),
        Phase("ensemble", members, recipe.ensemble_iterations, head),
    ]
    return [phase for phase in both if phase.iterations]


def has_features(recipe: Recipe, corpus: Corpus, pool: Pool) -> bool:
    """Whether the language models scored the endings of every context."""
    scored = recipe.generate.score_own or not corpus.own.any()
    return scored and bool(pool.layout.feature_names)


def usable_members(recipe: Recipe, corpus: Corpus, pool: Pool) -> tuple[str, ...]:
    """The recipe's members, without those that need features that some context lacks."""
    if has_features(recipe, corpus, pool):
        return recipe.filter.members
    return tuple(name for name in recipe.filter.members if not needs_features([name]))


def pos_words(vocabulary: Vocabulary, count: int) -> NDArray[np.uint16]:
    """The ids of the `count` most frequent words: the vocabulary is in that order."""
    words = [i for i, token in enumerate(vocabulary.tokens) if token.isalpha()]
    return np.array(words[:count], np.uint16)


def resumable_pools(project: Project) -> set[str]:
    """The keys of the pools that interrupted runs would go on with."""
    interrupted = [run for run in project.store.artifacts("filter") if not run.done]
    return {
        pool.key
        for run in interrupted
        for pool in project.store.artifacts("generate")
        if run.key == _key_on(pool, run)
    }


def _key_on(pool: Artifact, run: Artifact) -> str:
    """The key that a run with the recipe of `run` has on a pool."""
    contents = outside.recorded(run)
    return from_toml(run.recipe).stage_key("filter", [pool.key], outside=contents)


class Setup:
    """Raises StageError when no member can be used."""

    def __init__(self, recipe: Recipe, project: Project) -> None:
        generated = project.require("generate", recipe)
        self.recipe, self.pool_key = recipe, generated.key
        self.prepared = project.require("prepare", recipe)
        self.corpus = Corpus.load(project.folder(self.prepared))
        self.pool = Pool.open(project.folder(generated))
        self.gibberish: Gibberish | None = None  # learned by a run after feedback (restart.py)
        self.members = usable_members(recipe, self.corpus, self.pool)
        self.phases = phases(recipe.filter, self.members) if self.members else []
        if not self.phases:
            raise StageError(
                "the own candidates are not scored, and so the filter has no member or no "
                "iteration left. Set generate.score_own, or change filter.members or "
                "filter.ensemble_iterations."
            )
        self.device = runtime.choose_device(recipe.run.device, "float32").device

    @property
    def left_out_members(self) -> list[str]:
        return [name for name in self.recipe.filter.members if name not in self.members]

    def source(self, contexts: NDArray[np.int64], tags_folder: Path) -> Source:
        """The contexts as the models read them; with a tagger where a member reads tags."""
        source = Source(self.corpus, self.pool, contexts)
        if self._tagger is not None:
            cache = TagCache.of(tags_folder, self.pool, self.pool_key, self._tagger)
            source.tag_with(self._tagger, cache)
        return source

    def remove_old_tags(self, project: Project, tags_folder: Path) -> None:
        """Removes the tags of pools that neither this run nor an interrupted one works on."""
        pools = {self.pool_key} | resumable_pools(project)
        TagCache.remove_others(tags_folder, pools, self._tagger)

    def spec(self, members: tuple[str, ...], halvings: int = 0) -> EnsembleSpec:
        """The ensemble of these members; its batches halved so often."""
        recipe = self.recipe.filter
        if halvings:
            recipe = replace(
                recipe,
                batch=max(1, recipe.batch >> halvings),
                mlp_batch=max(1, recipe.mlp_batch >> halvings),
            )
        return EnsembleSpec(
            members=members,
            recipe=recipe,
            vocabulary=len(self.corpus.vocabulary),
            n_tags=len(self._tagger.labels) if self._tagger is not None else 0,
            pos_words=pos_words(self.corpus.vocabulary, recipe.pos_words),
            feature_count=len(self.pool.layout.feature_names),
            embeddings=self._embeddings if "bow" in members else None,
            gibberish=self.gibberish if "gibberish" in members else None,
        )

    @cached_property
    def _tagger(self) -> Tagger | None:
        return Tagger(self.corpus.vocabulary.tokens) if needs_tags(self.members) else None

    @cached_property
    def _embeddings(self) -> NDArray[np.float32] | None:
        file = outside.named(self.recipe, "filter").get("filter.embeddings_file")
        return load_embeddings(file, self.corpus.vocabulary) if file else None
