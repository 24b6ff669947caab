"""The policy as JSON, and what it refuses."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swag_studio.errors import RecipeError
from swag_studio.policy import VerificationPolicy


@given(
    st.builds(
        VerificationPolicy,
        judgements=st.integers(1, 3),
        top_places=st.sampled_from([1, 2, 2, 2]),
        distractors_needed=st.integers(1, 3),
        distractors_most=st.integers(3, 4),
        further_rounds=st.integers(0, 3),
        extra_questions=st.booleans(),
        label_rule=st.sampled_from(["most", "half"]),
        rank_rule=st.sampled_from(["points", "votes"]),
        likely_tie=st.sampled_from(["adjudicate", "likely", "unlikely"]),
    )
)
def test_a_policy_survives_json(policy: VerificationPolicy) -> None:
    assert VerificationPolicy.from_dict(json.loads(json.dumps(policy.to_dict()))) == policy


def test_the_defaults_are_the_papers() -> None:
    """One judgement; the found ending among the best two; 3 or 4 wrong endings; an extra question
    of the first round alone; and a first round with two more before a context is surprising."""
    default = VerificationPolicy()
    assert (
        VerificationPolicy.from_dict({})
        == default
        == VerificationPolicy.from_dict(default.to_dict())
    )
    assert (default.judgements, default.top_places) == (1, 2)
    assert (default.distractors_needed, default.distractors_most) == (3, 4)
    assert (default.extra_questions, default.extra_rounds, default.further_rounds) == (True, 1, 2)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"judgments": 2}, "Did you mean verification.judgements"),
        ({"judgements": 0}, "verification.judgements must be from 1 to 50"),
        ({"judgements": "two"}, "verification.judgements must be a whole number"),
        # Of six endings people see the found one, and one that ranks beside it: four are left.
        ({"distractors_most": 5}, "verification.distractors_most must be from 1 to 4"),
        ({"distractors_needed": 5}, "verification.distractors_needed must be from 1 to 4"),
        ({"top_places": 3}, "verification.top_places must be from 1 to 2"),
        ({"rank_rule": "luck"}, "must be one of points, votes"),
        ({"distractors_needed": 4, "distractors_most": 3}, "must not be above"),
    ],
)
def test_a_policy_refuses_what_it_does_not_know(values: dict[str, object], message: str) -> None:
    with pytest.raises(RecipeError, match=message):
        VerificationPolicy.from_dict(values)
