"""The largest entries of rows, chosen with padding or by sorting: those of a stable sort of each row."""

from __future__ import annotations

import numpy as np
import pytest

from taylorank.models import largest_entries as module
from taylorank.models.largest_entries import largest_entries


def drawn(lengths, seed=0):
    """Rows of these lengths among 900 columns, with many equal values."""
    rng = np.random.default_rng(seed)
    rows = np.repeat(np.arange(len(lengths)), lengths)
    columns = np.concatenate([np.sort(rng.choice(900, size, replace=False)) for size in lengths])
    return rows, columns, rng.integers(1, 6, len(rows)).astype(np.float32)


def by_row(rows, columns, values, count):
    expected = []
    for row in np.unique(rows):
        own = np.flatnonzero(rows == row)
        best = own[np.lexsort((columns[own], -values[own]))][:count]
        expected += [(int(at), place) for place, at in enumerate(best)]
    return expected


@pytest.mark.parametrize("count", [1, 5, 64, 5000])
@pytest.mark.parametrize("lengths", [[700, 0, 650, 1, 698], [1, 2, 900, 0, 3] + [1] * 40, [1], [0, 3]])
def test_they_are_those_of_a_stable_sort(lengths, count):
    entries = drawn(lengths)
    found = largest_entries(*entries, count)
    assert [*zip(*(part.tolist() for part in found), strict=True)] == by_row(*entries, count)


def test_none_at_all():
    assert [len(part) for part in largest_entries(*drawn([0, 0]), 3)] == [0, 0]


def test_rows_of_one_length_are_not_sorted(monkeypatch):
    """50 users with 2,000 items each: a million entries in every strip of 512 items."""
    entries = drawn([800] * 50)
    monkeypatch.setattr(module.np, "lexsort", None)
    assert len(largest_entries(*entries, 64)[0]) == 50 * 64


def test_one_long_row_among_short_ones_is_not_padded(monkeypatch):
    monkeypatch.setattr(module, "top_k_scores", None)
    assert len(largest_entries(*drawn([900] + [2] * 500), 2)[0]) == 2 * 501
