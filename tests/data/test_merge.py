"""Parts put together again."""

from __future__ import annotations

import taylorank as tr
from taylorank.data import merge


def test_union_is_the_data_before_the_split():
    data = tr.planted(80, 50, interactions=900, random_state=1)
    train, valid = data.split((0.9, 0.1), random_state=2)
    assert data.timestamps is not None
    assert merge(train, valid) == data
    assert merge(valid, train) == data


def test_strengths_are_kept_and_the_last_part_wins():
    weighted = tr.Interactions.from_arrays([1, 1, 2], [5, 6, 5], strengths=[2.0, 3.0, 4.0], timestamps=[1, 2, 3])
    other = tr.Interactions.from_arrays([3, 1], [9, 5])
    whole = merge(weighted, other)
    assert whole.matrix.toarray().tolist() == [[1, 3, 0], [4, 0, 0], [0, 0, 1]]
    assert whole.timestamps is None
    assert merge(other, weighted).matrix.toarray().tolist() == [[2, 3, 0], [4, 0, 0], [0, 0, 1]]
