"""Penn Treebank tags, as spaCy's English models give them, in words short enough for a list."""

from __future__ import annotations

NAMES = {
    "CC": "and, or",
    "CD": "number",
    "DT": "determiner",
    "EX": "there",
    "FW": "foreign word",
    "HYPH": "hyphen",
    "IN": "preposition",
    "JJ": "adjective",
    "JJR": "adjective -er",
    "JJS": "adjective -est",
    "LS": "list mark",
    "MD": "modal",
    "NN": "noun",
    "NNP": "name",
    "NNPS": "plural name",
    "NNS": "plural noun",
    "PDT": "all, both",
    "POS": "possessive",
    "PRP": "pronoun",
    "PRP$": "possessive pronoun",
    "RB": "adverb",
    "RBR": "adverb -er",
    "RBS": "adverb -est",
    "RP": "particle",
    "SYM": "symbol",
    "TO": "to",
    "UH": "interjection",
    "VB": "verb",
    "VBD": "verb, past",
    "VBG": "verb -ing",
    "VBN": "verb, participle",
    "VBP": "verb, present",
    "VBZ": "verb -s",
    "WDT": "which",
    "WP": "who",
    "WP$": "whose",
    "WRB": "where, when",
    "XX": "unknown",
    ".": "stop",
    ",": "comma",
    ":": "colon, dash",
    "``": "opening quote",
    "''": "closing quote",
    "-LRB-": "opening bracket",
    "-RRB-": "closing bracket",
    "$": "currency",
}


def name(tag: str) -> str:
    """The tag in words; the tag itself where it has none."""
    return NAMES.get(tag, tag)
