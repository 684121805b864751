from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from taylorank.data import planted
from taylorank.errors import ParameterError


def test_it_has_the_size_that_was_asked_for():
    for seed in range(3):
        data = planted(100, 60, interactions=1500, random_state=seed)
        assert (data.n_users, data.n_items, data.nnz) == (100, 60, 1500)
        assert data.by_user.row_lengths.min() >= 1
        assert data.is_binary


@pytest.mark.parametrize("interactions", [300, 900])  # few draws each, and a race for more than a sixteenth
def test_first_draws_follow_the_softmax(interactions):
    """With taste 0 all users share p ∝ rank^-popularity, and the first event of each is one draw from p."""
    first = []
    for seed in range(40):
        data = planted(60, 30, interactions=interactions, taste=0, popularity=1.0, random_state=seed)
        order = np.lexsort((data.timestamps, data.by_user.row_of_entry()))
        first.append(data.by_user.indices[order][data.by_user.indptr[:-1]])
        p = data.truth.probabilities(np.array([0]), data.item_ids)[0]
        rank = np.argsort(-p)
        first[-1] = np.argsort(rank)[first[-1]]
    counts = np.bincount(np.concatenate(first), minlength=30)
    expected = 1 / np.arange(1, 31)
    expected *= counts.sum() / expected.sum()
    assert stats.chisquare(counts, expected).pvalue > 1e-4


def test_taste_makes_users_differ_as_the_truth_says():
    data = planted(400, 50, interactions=4000, taste=2.0, popularity=0.0, random_state=5)
    p = data.truth.probabilities(data.user_ids, data.item_ids)
    met = data.matrix.toarray() > 0
    assert p[met].mean() > 3 * p[~met].mean()


def test_tails_are_long():
    data = planted(2000, 1000, interactions=60_000)
    counts = np.sort(np.bincount(data.by_user.indices, minlength=1000))[::-1]
    assert counts[:10].sum() > 0.05 * data.nnz
    assert counts[500:].sum() < 0.3 * data.nnz
    lengths = data.by_user.row_lengths
    assert np.percentile(lengths, 99) > 5 * np.median(lengths)


def test_the_truth_survives_cleaning_and_splitting():
    data = planted(200, 100, interactions=2000)
    for part in data.core(8).split():
        assert part.truth is data.truth
        p = part.truth.probabilities(part.user_ids[:3], part.item_ids)
        np.testing.assert_allclose(p.sum(axis=1), 1)


def test_seeds_reproduce():
    assert planted(80, 40, interactions=500, random_state=3) == planted(80, 40, interactions=500, random_state=3)
    assert planted(80, 40, interactions=500, random_state=3) != planted(80, 40, interactions=500, random_state=4)


def test_times_follow_the_draws_within_a_year():
    data = planted(80, 40, interactions=500)
    assert data.timestamps.min() >= 0
    assert data.timestamps.max() < 365 * 24 * 3600
    train, _, test = data.split_last()
    assert train.nnz > test.nnz > 0


@pytest.mark.parametrize(
    "sizes", [(0, 5, 5), (5, 5, 4), (5, 5, 13), (5, 0, 5)]
)  # no users, fewer than one each, more than half, no items
def test_impossible_sizes_are_refused(sizes):
    users, items, interactions = sizes
    with pytest.raises(ParameterError):
        planted(users, items, interactions=interactions)


@pytest.mark.parametrize(
    "shape", [{"taste": 10}, {"taste": 5, "popularity": 3}, {"popularity": 5}, {"taste": 0, "popularity": 0}]
)
def test_peaked_distributions_end_too(shape):
    data = planted(200, 100, interactions=4000, **shape)
    assert data.nnz == 4000


def test_seed_is_the_older_name_of_random_state():
    assert planted(80, 40, interactions=500, seed=3) == planted(80, 40, interactions=500, random_state=3)
    with pytest.raises(ParameterError, match="give random_state alone"):
        planted(80, 40, interactions=500, seed=3, random_state=3)


@pytest.mark.parametrize(
    "bad",
    [
        {"popularity": np.inf},
        {"popularity": np.nan},
        {"random_state": -1},
        {"random_state": 1.5},
        {"random_state": None},
        {"seed": None},
    ],
)
def test_strange_parameters_are_refused(bad):
    with pytest.raises(ParameterError):
        planted(20, 10, interactions=50, **bad)
