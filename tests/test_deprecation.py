"""Keywords with two names: which one warns, what a call gets, what `help` shows."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

import taylorank as tr
from taylorank import ranking
from taylorank.deprecation import also_named, renamed
from taylorank.errors import ParameterError
from taylorank.metrics import bootstrap_means
from taylorank.selection import Choice, compare_fitted, split_blocks
from taylorank.selection.significance import against_best, sign_flip_test

DATA = tr.planted(60, 30, interactions=600)
MODEL = tr.Popularity().fit(DATA)
VALUES = np.random.default_rng(0).normal(size=(80, 1))


@renamed(seed="random_state", protocol="cleaning")
def draw(n: int, *, random_state: int = 0, cleaning: str = "raw") -> tuple[int, int, str]:
    return n, random_state, cleaning


class Deck:
    @also_named(seed="random_state")
    def shuffle(self, *, random_state: int = 0, seed: int = 0) -> int:
        return random_state


def test_an_old_keyword_works_and_says_what_to_write():
    with pytest.warns(DeprecationWarning, match=r"draw\(seed=…\) is deprecated; write random_state=…") as caught:
        assert draw(1, seed=5) == (1, 5, "raw")
    assert caught[0].filename == __file__  # the caller's line, not the decorator's
    with pytest.warns(DeprecationWarning, match="is deprecated; write") as caught:
        assert draw(1, seed=5, protocol="paper") == (1, 5, "paper")
    assert len(caught) == 2


def test_the_new_keyword_does_not_warn():
    assert draw(1, random_state=5, cleaning="paper") == (1, 5, "paper")


def test_a_second_name_that_stays_does_not_warn():
    assert Deck().shuffle(seed=4) == Deck().shuffle(random_state=4) == 4
    assert Deck().shuffle() == 0


@pytest.mark.parametrize(
    "call", [lambda: draw(1, seed=0, random_state=0), lambda: Deck().shuffle(seed=1, random_state=2)]
)
def test_both_names_at_once_are_refused(call):
    with pytest.raises(ParameterError, match="two names of one parameter; give random_state alone"):
        call()


def test_help_shows_the_new_name_only():
    assert list(inspect.signature(draw).parameters) == ["n", "random_state", "cleaning"]
    assert list(inspect.signature(Deck().shuffle).parameters) == ["random_state"]


def public_callables():
    """Every function and class in the public names, and every public method of a class."""
    for name in tr.__all__:
        one = getattr(tr, name)
        if callable(one):
            yield name, one
        if inspect.isclass(one):
            yield from ((f"{name}.{own}", got) for own, got in inspect.getmembers(one, callable) if own[0] != "_")


def test_no_public_signature_shows_seed():
    shown = {name: inspect.signature(one).parameters for name, one in public_callables()}
    assert {"planted", "Interactions.split", "RG2", "RG2.fit", "evaluate", "tune"} <= {
        name for name, parameters in shown.items() if parameters
    }
    assert [name for name, parameters in shown.items() if "seed" in parameters] == []


CALLS = {
    "evaluate": lambda **given: tr.evaluate(MODEL, DATA, seen=(), k=5, confidence=0.9, **given).intervals,
    "prepare": lambda **given: ranking.protocol("papers").prepare(DATA, **given).train,
    "tune": lambda **given: [
        trial.params
        for trial in tr.tune(
            "itemknn", *DATA.split((0.8, 0.2)), space={"neighbours": Choice(range(1, 30))}, trials=2, **given
        ).trials
    ],
    "diagnose": lambda **given: str(tr.diagnose(tr.RG2(4).fit(DATA), users=9, **given)),
    "split_blocks": lambda **given: split_blocks(DATA, **given)[1],
    "compare_fitted": lambda **given: compare_fitted(DATA, {"a": MODEL}, metrics=["ndcg"], **given).record["runs"][0][
        "seed"
    ],
    "sign_flip_test": lambda **given: sign_flip_test(VALUES, resamples=99, **given).tolist(),
    "against_best": lambda **given: against_best({"a": VALUES[:40, 0], "b": VALUES[40:, 0]}, resamples=99, **given),
    "bootstrap_means": lambda **given: bootstrap_means(VALUES, np.ones((80, 1)), resamples=9, **given).tolist(),
}


@pytest.mark.parametrize("name", CALLS)
def test_seed_is_the_older_name_of_random_state(name):
    with pytest.warns(DeprecationWarning, match=rf"{name}\(seed=…\) is deprecated; write random_state=…"):
        old = CALLS[name](seed=3)
    assert old == CALLS[name](random_state=3)
    assert old != CALLS[name](random_state=0)


def test_an_unknown_keyword_is_still_an_error():
    with pytest.raises(TypeError, match="sed"):
        draw(1, sed=3)
