"""Climbing on a lattice."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from taylorank.selection.climb import climb

places = st.integers(0, 8)


@given(places, places, places, places)
def test_finds_the_top_of_a_round_hill_without_asking_twice(a, b, top_a, top_b):
    asked = []

    def value(place):
        asked.append(tuple(place.values()))
        return -((place["a"] - top_a) ** 2) - 3 * (place["b"] - top_b) ** 2

    assert climb({"a": 9, "b": 9}, {"a": a, "b": b}, value) == {"a": top_a, "b": top_b}
    assert len(asked) == len(set(asked)) <= 30


def test_a_place_without_a_value_is_left_alone():
    value = {0: 1.0, 1: float("-inf"), 2: 5.0}
    assert climb({"a": 3}, {"a": 0}, lambda p: value[p["a"]], steps=(1,)) == {"a": 0}


def test_the_start_is_looked_at_first_and_even_if_there_is_nowhere_to_go():
    asked = []
    climb({"a": 1}, {"a": 0}, lambda p: asked.append(dict(p)) or 1.0)
    assert asked == [{"a": 0}]
    climb({}, {}, lambda p: asked.append(dict(p)) or 1.0)
    assert asked[1:] == [{}]
