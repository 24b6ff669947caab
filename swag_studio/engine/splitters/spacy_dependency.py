"""Cuts a sentence after its subject, by spaCy's dependency parse.

The phrase is everything up to the end of the subject's subtree: the subject with what is joined
to it or describes it, after an opener of a few words ("Then,"). The ending begins with the first
word after it: auxiliary, adverb or verb.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from swag_studio.engine import spacy_model

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token

SUBJECTS = frozenset(("nsubj", "nsubjpass", "csubj", "csubjpass", "expl"))
CLAUSES = frozenset(("ccomp", "parataxis", "conj"))  # main clauses that the parser hangs on another
LONGEST_OPENER = 3  # tokens, comma included


class SpacySplitter:
    """Registry name "spacy"."""

    batch = 32

    def __init__(self) -> None:
        self._nlp = spacy_model.load(exclude=("ner", "lemmatizer"))

    def split(self, sentences: Sequence[Sequence[str]]) -> list[int | str]:
        """As Splitter.split."""
        docs = (spacy_model.doc(self._nlp, tokens) for tokens in sentences)
        return [cut(doc) for doc in self._nlp.pipe(docs, batch_size=self.batch)]


def cut(doc: Doc) -> int | str:
    """The length of the opening noun phrase of a parsed sentence, or a reason.

    Reasons: no_verb, no_subject, subject_after_verb, opener (too long a clause before it).
    """
    verbs = [t for t in doc if _main(t)]
    if not verbs:
        return "no_verb"
    found = [(s.left_edge.i, s, v) for v in verbs for s in v.children if s.dep_ in SUBJECTS]
    if not found:
        return "no_subject"
    start, subject, verb = min(found, key=lambda f: f[0])
    if subject.i > verb.i:
        return "subject_after_verb"
    end = subject.right_edge.i + 1
    if end > verb.i:
        return "subject_after_verb"
    if start > LONGEST_OPENER:
        return "opener"
    return end


def _main(token: Token) -> bool:
    """Whether `token` is the verb of a main clause."""
    if token.pos_ not in ("VERB", "AUX"):
        return False
    while token.dep_ in CLAUSES and token.head.i > token.i:
        token = token.head
    return token.dep_ == "ROOT"
