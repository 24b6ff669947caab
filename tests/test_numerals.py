"""Figures say what they are to the digits that they show, and zero has no sign."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import swag_studio
from swag_studio.numerals import plain, signed

NUMBERS = st.floats(-1e6, 1e6) | st.floats(-0.02, 0.02)
ZERO = re.compile(r"[-+]0*\.?0*%?$")


@given(NUMBERS, st.integers(0, 4), st.sampled_from("f%"))
@example(-0.0, 2, "f")
@example(-0.004999, 2, "f")
@example(0.004999, 2, "f")
@example(-0.0004, 1, "%")
def test_a_figure_is_its_value_and_zero_has_no_sign(value: float, digits: int, kind: str) -> None:
    form = f".{digits}{kind}"
    usual = format(value, form)
    zero = float(usual.rstrip("%")) == 0
    assert plain(value, form) == (usual.lstrip("-") if zero else usual)
    assert signed(value, form) == (plain(value, form) if zero else format(value, f"+{form}"))
    assert not ZERO.match(plain(value, form)) and not ZERO.match(signed(value, form))


def test_words() -> None:
    assert [signed(v) for v in (0.374, -0.406, -0.001, 0.0)] == ["+0.37", "-0.41", "0.00", "0.00"]
    assert [plain(v, ",.2f") for v in (-1234.5, -0.001)] == ["-1,234.50", "0.00"]
    assert [signed(v, ".1%") for v in (0.077, -0.0001)] == ["+7.7%", "0.0%"]
    assert plain(-1e-9, ".0f") == "0" and plain(-0.0, ",.4g") == "0"


@pytest.mark.parametrize("part", ["ui", "cli"])
def test_signs_are_written_nowhere_else(part: str) -> None:
    files = Path(swag_studio.__file__).with_name(part).glob("*.py")
    assert [f.name for f in files if re.search(r"\{[^{}\"]*:\+", f.read_text("utf-8"))] == []
