"""From text to tokens and back: the one tokeniser, and the one function that makes shown text.

Found and generated endings are shown through the same `TextMaker` from the same token ids, so
that neither casing nor spacing tells them apart. It knows no captions, folds or models.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from swag_studio.engine.corpus import BOS, EOS, PAD, UNK, Ids, Vocabulary

SENTENCE_STOPS = frozenset((".", "!", "?", "。"))

# Scripts written without spaces: each character, with its marks, is a token.
_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3041-\u30ff\u31f0-\u31ff" \
            "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # fmt: skip


def _marks() -> str:
    """The combining marks of the Basic Multilingual Plane, as ranges of a character class."""
    marks = [i for i in range(0x10000) if unicodedata.category(chr(i))[0] == "M"]
    ranges: list[list[int]] = []
    for i in marks:
        if ranges and ranges[-1][1] == i - 1:
            ranges[-1][1] = i
        else:
            ranges.append([i, i])
    return "".join(f"{chr(a)}-{chr(b)}" for a, b in ranges)


_MARKS = _marks()
_LETTER = rf"(?:(?![{_UNSPACED}])[^\W_])[{_MARKS}\u200c\u200d]*"
_TOKEN = re.compile(
    rf"""
    [{_UNSPACED}][{_MARKS}]*
  | (?:Mr|Mrs|Ms|Dr|St|Jr|Sr|Mt|vs)\.(?=\s*\w)      # abbreviations before a word
  | (?:[A-Za-z]\.){{2,}}(?=\s*[^\s.!?])               # a.m., U.S.
  | (?:[A-Za-z]\.)+[A-Za-z](?=\.$)                   # the same before the final stop
  | (?<!\w)\.\d+                                     # .22
  | \d+(?:[.,:/]\d+)+(?:{_LETTER})*                  # 3.5, 1,000, 10:30, 1/4
  | (?:{_LETTER})+(?:[-'](?:{_LETTER})+)*            # T-shirt, don't, o'clock
  | \.\.\.
  | \S
    """,
    re.VERBOSE,
)
_CLITIC = re.compile(r"(?i)^(.+?)(n't|'s|'m|'re|'ve|'ll|'d)$")


def tokenise(text: str) -> list[str]:
    """The tokens of `text`, cased as written.

    Numbers, hyphenated words and abbreviations stay whole; clitics ("n't", "'s") and marks are
    tokens of their own. A stop always is a token, so "man.He" is two sentences.
    """
    tokens: list[str] = []
    for token in _TOKEN.findall(text):
        if "'" in token and (parts := _CLITIC.match(token)):
            tokens += map(sys.intern, parts.groups())
        else:
            tokens.append(sys.intern(token))
    return tokens


_MARKS_MADE_PLAIN = str.maketrans(
    dict.fromkeys("‘’‚‛´`′ʼ", "'") | dict.fromkeys("“”„‟″«»", '"') | {"⁄": "/"}
)


def plain(text: str) -> str:
    """NFKC, and one kind of quotes: what all text goes through, cleaned or not."""
    # Before too: NFKC would take an acute accent that serves as apostrophe apart.
    return unicodedata.normalize("NFKC", text.translate(_MARKS_MADE_PLAIN)).translate(
        _MARKS_MADE_PLAIN
    )


def tokens_of(text: str) -> list[str]:
    """The lowercased tokens of a text that is not cleaned."""
    return [token.lower() for token in tokenise(plain(text))]


def encode(tokens: Sequence[str], index: Mapping[str, int]) -> Ids:
    """The ids of lowercased tokens; what `index` lacks becomes UNK."""
    return np.array([index.get(token, UNK) for token in tokens], np.uint16)


# --- spacing ---------------------------------------------------------------------------------

CLITICS = frozenset(("n't", "'s", "'m", "'re", "'ve", "'ll", "'d", "'"))
_CLOSES = re.compile(r"[.,!?;:)\]}%。、」』…](?!\d)")
_OPENS = frozenset(("(", "[", "{", "$", "£", "€", "#", "/", "「", "『"))
_NO_SPACES = re.compile(rf"[{_UNSPACED}\u3000-\u303f]")


def spaces_before(tokens: Sequence[str]) -> list[bool]:
    """For each token, whether a space stands before it; False for the first."""
    spaces, in_quotes, after_opening = [], False, True
    for i, token in enumerate(tokens):
        lower = token.lower()
        glued = (
            after_opening
            or _CLOSES.match(token) is not None
            or lower in CLITICS
            or lower == "/"
            or (lower == '"' and in_quotes)
            or bool(_NO_SPACES.match(token) or (i and _NO_SPACES.match(tokens[i - 1])))
        )
        spaces.append(not glued)
        after_opening = token in _OPENS
        if token == '"':
            in_quotes = not in_quotes
            after_opening = in_quotes
    return spaces


def join(tokens: Sequence[str]) -> str:
    """The tokens as running text, in the case they have."""
    pairs = zip(tokens, spaces_before(tokens), strict=True)
    return "".join(f" {token}" if space else token for token, space in pairs)


# --- casing ----------------------------------------------------------------------------------


def case_unsure(tokens: Sequence[str]) -> list[bool]:
    """For each token, whether a capital says nothing about it: at a sentence's start, in quotes."""
    result, opens, in_quotes = [], True, False
    for token in tokens:
        result.append(opens or in_quotes)
        if token == '"':
            in_quotes = not in_quotes
        elif token in SENTENCE_STOPS:
            opens = True
        elif any(c.isalnum() for c in token):
            opens = False
    return result


def _capital(token: str) -> str:
    """`token` with its first letter upper case, unless it has a capital already (iPhone)."""
    return token if token != token.lower() else token[:1].upper() + token[1:]


def write(tokens: Sequence[str], cased: Mapping[str, str], *, sentence: bool) -> str:
    """Lowercased tokens as shown text: truecased, joined, with a capital at each sentence start.

    `sentence` is False for an ending, which goes on in the middle of one.
    """
    written, opens = [], sentence
    for token in tokens:
        form = cased.get(token, token)
        if opens and any(c.isalnum() for c in token):
            form, opens = _capital(form), False
        opens = opens or token in SENTENCE_STOPS
        written.append(form)
    return join(written)


class TextMaker:
    """Makes shown text from token ids. PAD, BOS and EOS are skipped, UNK shows as "<unk>"."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._tokens, self._cased = vocabulary.tokens, vocabulary.cased

    def sentence(self, ids: Iterable[int]) -> str:
        """A whole sentence: capital first."""
        return write(self.tokens(ids), self._cased, sentence=True)

    def phrase(self, ids: Iterable[int]) -> str:
        """The opening noun phrase of a sentence: capital first, no stop."""
        return write(self.tokens(ids), self._cased, sentence=True)

    def ending(self, ids: Iterable[int]) -> str:
        """The rest of a sentence after its noun phrase."""
        return write(self.tokens(ids), self._cased, sentence=False)

    def tokens(self, ids: Iterable[int]) -> list[str]:
        """The token strings of `ids`, without the special ones."""
        return [self._tokens[i] for i in map(int, ids) if i not in (PAD, BOS, EOS)]
