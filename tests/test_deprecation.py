"""Keywords with two names: which one warns, what a call gets, what `help` shows."""

from __future__ import annotations

import inspect

import pytest

import taylorank as tr
from taylorank.deprecation import also_named, renamed
from taylorank.errors import ParameterError


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


def test_the_data_functions_show_random_state():
    for function in (tr.planted, tr.Interactions.split, tr.Interactions.split_last, tr.Interactions.split_users):
        shown = inspect.signature(function).parameters
        assert "random_state" in shown
        assert "seed" not in shown


def test_an_unknown_keyword_is_still_an_error():
    with pytest.raises(TypeError, match="sed"):
        draw(1, sed=3)
