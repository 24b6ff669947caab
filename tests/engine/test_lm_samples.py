"""What a language model writes for held-out contexts: whose, by what chance, and how shown."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tiny_corpus import RARE, STOP, WORDS, corpus
from tiny_lm import drive, expectations, model

from swag_studio.engine.lm import LanguageModel
from swag_studio.engine.lm_samples import CONTEXTS, HeldOut
from swag_studio.samples import Sampling

PLAIN = Sampling(temperature=1.0, top_k=0, top_p=1.0, max_tokens=9)
MADE = corpus(documents=40)


def lm(stop: float = 1.5) -> LanguageModel:
    return model(3, vocabulary=len(WORDS), stop=stop)


@pytest.mark.parametrize("fold", [0, 1])
def test_the_contexts_are_of_the_fold_and_the_same_each_time(fold: int) -> None:
    chosen = HeldOut(MADE, fold, seed=5).places
    assert len(set(chosen)) == CONTEXTS and chosen == sorted(chosen)
    assert {int(MADE.folds[c]) for c in chosen} == {fold}
    assert HeldOut(MADE, fold, seed=5).places == chosen != HeldOut(MADE, fold, seed=6).places


def test_a_fold_of_few_contexts_gives_all_it_has_but_own_ones() -> None:
    own = np.zeros(12, np.bool_)
    own[[2, 6]] = True
    assert HeldOut(replace(corpus(12), own=own), 0, seed=1).places == [0, 4, 8, 10]
    none = HeldOut(replace(corpus(12), own=np.ones(12, np.bool_)), 0, seed=1)
    assert drive(none.draw(lm(), 1, PLAIN)) == ()


def test_an_ending_does_not_depend_on_the_others_and_changes_with_the_epoch() -> None:
    held_out = HeldOut(MADE, 0, seed=5)
    every = drive(held_out.draw(lm(), 1, PLAIN))
    assert drive(held_out.draw(lm(), 1, PLAIN)) == every
    later = drive(held_out.draw(lm(), 2, PLAIN))
    assert [s.context_id for s in later] == [s.context_id for s in every]
    assert [s.sampled for s in later] != [s.sampled for s in every]
    held_out.places = held_out.places[3:5]
    assert drive(held_out.draw(lm(), 1, PLAIN)) == every[3:5]


def test_the_likeliest_words_are_those_of_the_plain_model() -> None:
    """With top-k 1 the ending is a chain of likeliest words, found anew token by token."""
    made, fold = lm(), 1
    greedy = replace(PLAIN, top_k=1)
    held_out = HeldOut(MADE, fold, seed=2)
    for place, sample in zip(held_out.places, drive(held_out.draw(made, 1, greedy)), strict=True):
        before = [1 if i == RARE else int(i) for i in (*MADE.s[place], *MADE.n[place])]
        ending: list[int] = []
        while len(ending) < greedy.max_tokens and STOP not in ending:
            scores = expectations(made, "forward", [*before, *ending])[-1]
            scores[[0, 1, 2, 3, RARE]] = -np.inf  # never written: marks, and masked words
            ending.append(int(scores.argmax()))
        words = [WORDS[i] for i in ending]
        assert sample.sampled == " ".join(words).replace(" .", ".")
        assert sample.complete == (words[-1] == ".")


def test_texts_are_those_of_the_one_text_maker_and_a_cut_off_ending_is_marked() -> None:
    held_out = HeldOut(MADE, 0, seed=5)
    (first, *_) = drive(held_out.draw(lm(stop=-50.0), 1, PLAIN))
    words = [WORDS[i] for i in MADE.s[held_out.places[0]]]
    assert first.sent1 == " ".join(words).replace(" .", ".").capitalize()
    assert (first.sent2, first.found, first.complete) == ("W5", "w6.", False)
    assert len(first.sampled.split()) == PLAIN.max_tokens
    assert all(s.complete and s.sampled == "." for s in drive(held_out.draw(lm(50.0), 1, PLAIN)))
