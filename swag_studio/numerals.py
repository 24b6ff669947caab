"""How figures are written: fixed digits, and no sign on what rounds to zero. Text only.

Every score, margin, weight and coefficient that may be below zero becomes words here.
"""

from __future__ import annotations


def plain(value: float, form: str = ".2f") -> str:
    """A number in a format of Python's: "0.41", "-1.30"; "0.00" also where it is just below 0."""
    return format(value, f"z{form}")


def signed(value: float, form: str = ".2f") -> str:
    """The same with its sign: "+0.41", "-1.30"; "0.00" for what rounds to zero on either side."""
    text = format(value, f"+z{form}")
    return text if text.strip("+0.%") else text[1:]
