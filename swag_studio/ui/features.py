"""What the numbers of an ending are called, and exactly what they are. Text only.

The names are those of the engine's features; a pool with others shows them as they are.
"""

from __future__ import annotations

from dataclasses import dataclass

from swag_studio.evidence import FEATURES

NATS, TOKENS = "nats per token", "tokens"


@dataclass(frozen=True, slots=True)
class Feature:
    """A number in words: the head of its column, its name in a sentence, its exact definition.

    `unit` is NATS (e to the power of it is a perplexity), TOKENS, or "" where it is not known.
    `shared` is True where all endings of a context have the same.
    """

    code: str
    title: str
    name: str
    definition: str
    unit: str
    shared: bool


_MEAN = "Mean of −log p(token) over the tokens of"
_PERPLEXITY = "In nats per token: e to this power is the perplexity."

# code -> (head of its column, definition); METHOD section 2, row MLP features.
_DEFINED = {
    "s_n_forward": (
        "Context, forward",
        f"{_MEAN} the first sentence and the noun phrase, read forward. {_PERPLEXITY}",
    ),
    "v_given_s_n_forward": (
        "Forward",
        f"{_MEAN} the ending, read forward after the first sentence and the noun phrase. "
        f"{_PERPLEXITY}",
    ),
    "s_n_given_v_backward": (
        "Context",
        f"{_MEAN} the noun phrase and the first sentence, read backward after the ending. "
        f"{_PERPLEXITY}",
    ),
    "v_backward": (
        "Backward",
        f"{_MEAN} the ending, read backward and by itself. {_PERPLEXITY}",
    ),
    "last_token": (
        "Last",
        "−log p of the ending's last token, read forward after all that stands before it. In nats.",
    ),
    "v_tokens": ("Tokens", "Tokens of the ending, its final stop among them."),
    "n_tokens": ("Noun phrase", "Tokens of the noun phrase that opens the second sentence."),
    "s_tokens": ("First sentence", "Tokens of the first sentence, its final stop among them."),
}
_SHARED = {"s_n_forward", "n_tokens", "s_tokens"}


def feature(code: str) -> Feature:
    """A feature by the engine's name; one that is not known here is called as it is."""
    words = code.replace("_", " ")
    title, definition = _DEFINED.get(code, (words, ""))
    name = FEATURES.get(code, words)
    unit = (TOKENS if code.endswith("_tokens") else NATS) if code in _DEFINED else ""
    return Feature(code, title, name[:1].upper() + name[1:], definition, unit, code in _SHARED)
