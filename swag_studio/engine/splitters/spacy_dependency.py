"""Cuts a sentence after its subject, by spaCy's dependency parse.

The phrase is everything up to the end of the subject's subtree: the subject with what is joined
to it or describes it, after a short opener ("Then,", "When he is done,"). The ending begins with
the next word: auxiliary, adverb or verb. A parse that puts the cut at an unlikely place is not
believed: a lost pair costs less than a phrase that ends in the middle of something.

The model often takes a verb for a noun ("A man in a blue jacket walks home"). A sentence in which
it sees no verb is parsed again with a plain verb in the place of each word that could be one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from swag_studio.engine import spacy_model

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token

SUBJECTS = frozenset(("nsubj", "nsubjpass", "csubj", "csubjpass", "expl"))
# Main clauses that the parser hangs on a later one: "The man sits down, then he | talks."
CLAUSES = frozenset(("ccomp", "parataxis", "conj"))

LONGEST_OPENER = 6  # tokens, comma included
OPENERS = frozenset(("ADV", "ADP", "SCONJ", "CCONJ", "INTJ"))
# Alone before a subject they make the clause a subordinate one: "As he | walks, ..."
SUBORDINATORS = frozenset(
    ("after", "although", "as", "because", "before", "if", "once", "since", "though", "until")
    + ("when", "whenever", "where", "while")
)
NO_LAST = frozenset(("CCONJ", "SCONJ", "PUNCT", "AUX"))  # what no phrase ends with
FIRST = frozenset(("VERB", "AUX", "ADV", "PART"))  # what an ending begins with
PLURALS = frozenset(("they", "we", "you", "few", "many", "some", "both", "all", "others", "people"))
QUANTIFIERS = frozenset(("both", "all", "each"))  # "They | both laugh."


@dataclass(frozen=True, slots=True)
class Cut:
    """Where a sentence is cut: after `end` tokens, for this subject of this verb."""

    end: int
    subject: Token
    verb: Token


class SpacySplitter:
    """Registry name "spacy"."""

    batch = 24

    def __init__(self) -> None:
        self._nlp = spacy_model.load(exclude=("ner", "lemmatizer"))

    def split(self, sentences: Sequence[Sequence[str]]) -> list[int | str]:
        """As Splitter.split."""
        results: list[int | str] = []
        for doc in self._parse(sentences):
            found = cut(doc)
            if found in ("no_verb", "no_subject"):
                found = self._second_look(doc) or found
            results.append(found if isinstance(found, str) else found.end)
        return results

    def _parse(self, sentences: Iterable[Sequence[str]]) -> list[Doc]:
        docs = (spacy_model.doc(self._nlp, tokens) for tokens in sentences)
        return list(self._nlp.pipe(docs, batch_size=self.batch))

    def _second_look(self, doc: Doc) -> Cut | None:
        """The cut before the first word that turns out to be the main verb."""
        words = [token.text for token in doc]
        places = [token.i for token in doc if _could_be_verb(token)]
        plain = ["goes" if words[i].endswith("s") else "go" for i in places]
        changed = [
            [*words[:i], verb, *words[i + 1 :]] for i, verb in zip(places, plain, strict=True)
        ]
        for i, again in zip(places, self._parse(changed), strict=True):
            found = cut(again)
            if isinstance(found, Cut) and found.verb.i == i and _agrees(found):
                return found
        return None


def cut(doc: Doc) -> Cut | str:
    """Where a parsed sentence is cut, or a reason.

    Reasons: no_verb (or none in the present or past), no_subject, subject_after_verb, opener
    (long, or a subordinate clause), unclear_cut.
    """
    verbs = [token for token in doc if _main(token)]
    if not verbs:
        return "no_verb"
    clauses = [(s, verb) for verb in verbs for s in verb.children if s.dep_ in SUBJECTS]
    if not clauses:
        return "no_subject"
    subject, verb = min(clauses, key=lambda clause: clause[0].left_edge.i)
    end = subject.right_edge.i + 1
    if end > verb.i:
        return "subject_after_verb"
    if not _finite(verb):
        return "no_verb"
    if _bad_opener(doc, subject.left_edge.i):
        return "opener"
    return Cut(end, subject, verb) if _believable(doc, end, verb) else "unclear_cut"


def _main(token: Token) -> bool:
    """Whether `token` is the verb of a main clause, also where it is mistaken for a noun."""
    if token.pos_ not in ("VERB", "AUX"):
        taken_for_noun = token.dep_ == "ROOT" and token.tag_.startswith("NN")
        return taken_for_noun and any(c.dep_ in SUBJECTS for c in token.lefts)
    while token.dep_ in CLAUSES and token.head.i > token.i:
        token = token.head
    return token.dep_ == "ROOT"


def _finite(verb: Token) -> bool:
    """False for a participle without auxiliary; "run" and the like are mistaken for one."""
    if any(child.dep_ in ("aux", "auxpass") for child in verb.children):
        return True
    looks_past = verb.tag_ == "VBN" and not verb.lower_.endswith(("ed", "en", "wn"))
    return looks_past or verb.tag_ not in ("VBG", "VBN")


def _bad_opener(doc: Doc, start: int) -> bool:
    """Whether what stands before the subject is too long, or no opener of a main clause."""
    opener = [token for token in doc[:start] if token.text != '"']
    if not opener:
        return False
    first = opener[0]
    if len(opener) > LONGEST_OPENER or (len(opener) > 1 and first.pos_ not in OPENERS):
        return True
    return len(opener) == 1 and first.lower_ in SUBORDINATORS


def _believable(doc: Doc, end: int, verb: Token) -> bool:
    """Whether a phrase may end, and an ending begin, with the words at the cut."""
    last, first = doc[end - 1], doc[end]
    if last.pos_ in NO_LAST and last.text not in ('"', ")"):
        return False
    if last.tag_ == "IN":  # "A man in | red runs"; particles are tagged RP
        return False
    return first == verb or first.pos_ in FIRST or first.lower_ in QUANTIFIERS


def _could_be_verb(token: Token) -> bool:
    """Whether a word after a noun, or after "in red", may be a verb in spite of its tag."""
    if not 0 < token.i < len(token.doc) - 2 or not token.is_lower or token.text.endswith("ss"):
        return False
    before = token.doc[token.i - 1]
    after_noun = before.pos_ in ("NOUN", "PROPN", "PRON", "ADV")
    after_colour = before.pos_ == "ADJ" and token.i > 1 and token.doc[token.i - 2].pos_ == "ADP"
    return token.tag_ in ("NN", "NNS", "VBZ", "VBP") and (after_noun or after_colour)


def _agrees(found: Cut) -> bool:
    """Whether subject and verb agree in number: "clips of goal shots" is no sentence."""
    subject = found.subject
    plural = (
        subject.tag_ in ("NNS", "NNPS", "CD")
        or subject.lower_ in PLURALS
        or any(child.dep_ == "conj" for child in subject.children)
    )
    return plural == (found.verb.lower_ == "go")
