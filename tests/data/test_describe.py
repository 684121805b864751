"""The numbers of `describe`, against the definitions written out."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from taylorank.data.describe import Spread, describe
from taylorank.data.interactions import Interactions


def test_a_small_set_by_hand():
    data = Interactions.from_arrays([1, 1, 1, 2], ["a", "b", "c", "a"])
    facts = describe(data)
    assert (facts.users, facts.items, facts.interactions, facts.density) == (2, 3, 4, 4 / 6)
    assert facts.per_user == Spread(1, 2.0, 2.0, 3)
    assert facts.per_item == Spread(1, 1.0, 4 / 3, 2)
    assert facts.gini == pytest.approx(1 / 6)
    assert facts.top_share == 0.5
    assert facts.first is None
    assert facts.steps == data.steps


@settings(deadline=None)
@given(st.lists(st.integers(1, 9), min_size=1, max_size=30))
def test_gini_is_half_the_mean_difference_over_the_mean(popularity):
    users = [u for count in popularity for u in range(count)]
    items = [i for i, count in enumerate(popularity) for _ in range(count)]
    x = np.array(popularity, dtype=float)
    expected = np.abs(x[:, None] - x[None, :]).mean() / (2 * x.mean())
    assert describe(Interactions.from_arrays(users, items)).gini == pytest.approx(expected)


def test_the_top_percent_is_rounded_up():
    items = [i for i in range(101) for _ in range(2 if i < 2 else 1)]
    users = [u for i in range(101) for u in range(2 if i < 2 else 1)]
    assert describe(Interactions.from_arrays(users, items)).top_share == pytest.approx(4 / 103)


@pytest.mark.parametrize(
    ("times", "first", "last"),
    [
        ([978_300_760, 1_046_454_590], "2000-12-31T22:12:40", "2003-02-28T17:49:50"),
        (np.array(["2020-01-01", "2021-06-05"], dtype="datetime64[D]"), "2020-01-01T00:00:00", "2021-06-05T00:00:00"),
        ([978_300_760_000, 1_046_454_590_000], "2000-12-31T22:12:40", "2003-02-28T17:49:50"),
        ([978_300_760_000_000, 1_046_454_590_000_000], "2000-12-31T22:12:40", "2003-02-28T17:49:50"),
        ([978_300_760 * 10**9, 1_046_454_590 * 10**9], "2000-12-31T22:12:40", "2003-02-28T17:49:50"),
        ([0, 49], "0", "49"),
    ],
)
def test_the_time_span_is_in_dates_where_it_can_be(times, first, last):
    facts = describe(Interactions.from_arrays([1, 2], [1, 2], timestamps=times))
    assert (facts.first, facts.last) == (first, last)


def test_nothing_is_described_too():
    empty = Interactions.from_arrays([1], [1]).select(np.array([False]), "emptied")
    facts = describe(empty)
    assert (facts.interactions, facts.gini, facts.top_share, facts.first) == (0, 0.0, 0.0, None)
