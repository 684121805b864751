"""Rank and threshold of RG² where they are left to the data: told, kept in files, refused where there is nothing."""

from __future__ import annotations

import pytest

import taylorank as tr
from taylorank.data import planted
from taylorank.errors import NotFittedError
from taylorank.models.rg_parameters import default_penalty, default_rank, rank_of_sizes


@pytest.mark.parametrize("kind", [tr.RG2, tr.RGX])
def test_they_are_told_and_kept(kind, tmp_path):
    data = planted(300, 200, interactions=9000)
    model = kind().fit(data)
    assert (model.factors, model.regularization, model.rank) == (None, None, 64)
    assert model.share == pytest.approx(0.7 * ((300 / data.nnz) ** 0.5 + (200 / data.nnz) ** 0.5))
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


def test_sparse_data_have_the_largest_threshold_and_a_plain_penalty_its_own():
    assert default_penalty(planted(1000, 900, interactions=3000)) == 0.4
    assert default_penalty(planted(1000, 900, interactions=3000), "plain") == 0.1


def test_more_data_keep_the_rank():
    data = planted(300, 200, interactions=9000)
    model = tr.RG2(solver="als", iterations=5).fit(data)
    assert model.partial_fit(planted(1200, 800, interactions=9000), sweeps=1).rank == 64


def test_nothing_is_known_before_the_fit():
    for name in ("rank", "share"):
        with pytest.raises(NotFittedError):
            getattr(tr.RG2(), name)
    assert (tr.RG2(8).rank, tr.RG2(regularization=0.1).share) == (8, 0.1)
