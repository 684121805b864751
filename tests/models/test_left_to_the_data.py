"""Rank and threshold of RG² where they are left to the data: told, kept in files, refused where there is nothing."""

from __future__ import annotations

import numpy as np
import pytest

import taylorank as tr
from taylorank.data import planted
from taylorank.errors import NotFittedError
from taylorank.models.rg_parameters import default_rank, rank_of_sizes


@pytest.mark.parametrize("kind", [tr.RG2, tr.RGX])
def test_they_are_told_and_kept(kind, tmp_path):
    data = planted(300, 200, interactions=9000)
    model = kind().fit(data)
    assert (model.factors, model.regularization, model.rank) == (None, None, 64)
    assert model.settled_for(data)["regularization"] == pytest.approx(model.share, rel=1e-3)
    model.save(tmp_path / "m.tr")
    again = tr.load(tmp_path / "m.tr")
    assert (again.rank, again.share) == (64, pytest.approx(model.share))
    assert again.recommend([3], n=5)[0].tolist() == model.recommend([3], n=5)[0].tolist()
    given = kind(64, regularization=model.share).fit(data)
    assert given.recommend([3], n=5)[0].tolist() == model.recommend([3], n=5)[0].tolist()


def test_data_smaller_than_the_least_rank_can_be_fitted():
    assert tr.RG2().fit(planted(40, 30, interactions=400)).rank == 30


def test_a_quarter_of_the_smaller_side_between_64_and_1024():
    sizes = ((100, 90), (1000, 600), (3000, 2500))
    assert [default_rank(planted(*size, interactions=4000)) for size in sizes] == [64, 150, 625]
    assert rank_of_sizes(5000, 4500) == 1024


def test_factors_of_large_data_stay_within_two_gib():
    assert [rank_of_sizes(n, n) for n in (100_000, 262_144, 1_000_000, 100_000_000)] == [1024, 1024, 268, 64]


def dense(data, matrix):
    """S' of RG2 as its definition has it, from any matrix of the same users and items."""
    contexts = matrix.sum(axis=1) ** 1.4
    q = np.bincount(data.by_user.indices, minlength=data.n_items) ** 0.7
    q = q / q.sum()
    lifts = matrix / matrix.sum(axis=1, keepdims=True) / q - 1
    return np.sqrt(contexts)[:, None] * lifts * np.sqrt(q)


@pytest.mark.parametrize("options", [{}, {"solver": "als", "iterations": 2}], ids=["spectral", "als"])
def test_the_threshold_is_a_share_of_where_singular_values_of_shuffled_data_end(options):
    rng = np.random.default_rng(1)
    met = rng.random((300, 200)) < np.where(np.arange(300)[:, None] % 5 == np.arange(200) % 5, 0.5, 0.06)
    data = tr.Interactions.from_arrays(*np.nonzero(met))
    shuffled = np.zeros((300, 200))
    np.add.at(shuffled, (data.by_user.row_of_entry(), np.random.default_rng(0).permutation(data.by_user.indices)), 1.0)
    own = np.zeros((300, 200))
    own[data.by_user.row_of_entry(), data.by_user.indices] = 1.0
    largest, noise = (np.linalg.svd(dense(data, matrix), compute_uv=False) for matrix in (own, shuffled))
    model = tr.RG2(**options).fit(data)
    assert model.share == pytest.approx(0.55 * noise[1] / largest[0], rel=1e-3)
    assert 0.1 < model.share < 0.4


def test_data_that_are_noise_have_the_largest_threshold_and_a_plain_penalty_its_own():
    rng = np.random.default_rng(0)
    noise = tr.Interactions.from_arrays(rng.integers(0, 300, 1500), rng.integers(0, 300, 1500))
    assert tr.RG2().fit(noise).share == 0.4
    assert tr.RG2(penalty="plain", solver="als", iterations=1).fit(noise).share == 0.1
    assert tr.RG2().fit([(1, 1), (1, 2), (2, 1), (2, 2)]).share == 0.4  # everybody has everything: σ₁ = 0


def test_the_unit_of_strength_and_the_number_of_threads_do_not_matter():
    rng = np.random.default_rng(0)
    users, items = rng.integers(0, 300, 6000), rng.integers(0, 200, 6000)
    strengths = rng.integers(1, 6, 6000) * (1 + 4 * (users % 5 == items % 5))
    shares = [
        tr.RG2(num_threads=count).fit(tr.Interactions.from_arrays(users, items, strengths=unit * strengths)).share
        for unit, count in ((1.0, 1), (1.0, 3), (1e-20, 1))
    ]
    assert shares[0] == shares[1] == pytest.approx(shares[2], rel=1e-5)


def test_more_data_keep_the_rank():
    data = planted(300, 200, interactions=9000)
    model = tr.RG2(solver="als", iterations=5).fit(data)
    assert model.partial_fit(planted(1200, 800, interactions=9000), sweeps=1).rank == 64


def test_nothing_is_known_before_the_fit():
    for name in ("rank", "share"):
        with pytest.raises(NotFittedError):
            getattr(tr.RG2(), name)
    assert (tr.RG2(8).rank, tr.RG2(regularization=0.1).share) == (8, 0.1)
