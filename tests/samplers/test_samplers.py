"""Distributions, exclusion, reproducibility, and what is refused."""

from __future__ import annotations

import inspect

import numpy as np
import pytest
import torch
from scipy import stats

from taylorank import samplers
from taylorank.data import CSR
from taylorank.errors import ParameterError
from taylorank.losses.batch import Positives
from taylorank.samplers.seen import Seen

POPULARITY = np.array([0, 1, 2, 5, 30, 100])
CPU = torch.device("cpu")


def batch(rows: list[int], columns: list[int]) -> Positives:
    return Positives(torch.tensor(rows), torch.tensor(columns), torch.ones(len(rows)))


def p_value(columns: torch.Tensor, probabilities: np.ndarray) -> float:
    counts = np.bincount(columns.numpy().ravel(), minlength=len(probabilities))
    return float(stats.chisquare(counts, probabilities * counts.sum()).pvalue)


@pytest.mark.parametrize(
    ("name", "options", "weights"),
    [
        ("uniform", {}, np.ones(6)),
        ("popularity", {"exponent": 0.0}, np.ones(6)),
        ("popularity", {"exponent": 0.75}, np.maximum(POPULARITY, 1) ** 0.75),
        ("popularity", {"exponent": 1.0}, np.maximum(POPULARITY, 1)),
        ("popularity", {"exponent": -0.5}, np.maximum(POPULARITY, 1) ** -0.5),
    ],
)
def test_distribution_and_log_q(name, options, weights, generator) -> None:
    sampler = samplers.get(name)(n_items=6, popularity=POPULARITY, **options)
    positives = batch([0] * 200, list(range(5)) * 40)
    drawn = sampler.draw(positives, 1000, generator=generator)
    q = weights / weights.sum()
    assert p_value(drawn.columns, q) > 1e-3
    assert p_value(drawn.columns, np.roll(q, 1)) < 1e-6 or name == "uniform" or options["exponent"] == 0
    assert drawn.columns.dtype == torch.int64
    assert drawn.columns.shape == (200, 1000)
    assert drawn.mask is None
    torch.testing.assert_close(drawn.log_q, torch.tensor(np.log(q), dtype=torch.float32)[drawn.columns])
    torch.testing.assert_close(drawn.positive_log_q, torch.tensor(np.log(q), dtype=torch.float32)[positives.columns])


def test_many_items_follow_the_popularity(generator) -> None:
    popularity = np.random.default_rng(1).zipf(1.6, 5000).clip(max=10**5)
    sampler = samplers.PopularitySampler(n_items=5000, popularity=torch.tensor(popularity), exponent=0.5)
    drawn = sampler.draw(batch([0] * 1000, [0] * 1000), 1000, generator=generator)
    assert p_value(drawn.columns, popularity**0.5 / (popularity**0.5).sum()) > 1e-3


def test_draws_in_a_row_are_independent(generator) -> None:
    """Pairs of neighbouring draws fill the 36 cells as independent ones would."""
    sampler = samplers.PopularitySampler(n_items=6, popularity=POPULARITY, exponent=0.3)
    pairs = sampler.draw(batch([0] * 1000, [0] * 1000), 200, generator=generator).columns.view(-1, 2)
    q = np.maximum(POPULARITY, 1) ** 0.3
    q /= q.sum()
    assert p_value(pairs[:, 0] * 6 + pairs[:, 1], np.outer(q, q).ravel()) > 1e-3


def test_seen_is_the_set_of_pairs() -> None:
    rng = np.random.default_rng(2)
    dense = rng.random((37, 53)) < 0.2
    indptr = np.concatenate(([0], np.cumsum(dense.sum(1))))
    seen = Seen(CSR(indptr, np.nonzero(dense)[1].astype(np.int32), None, 53), 53, CPU)
    found = seen.contains(torch.arange(37)[:, None], torch.arange(53))
    np.testing.assert_array_equal(found.numpy(), dense)


def test_seen_may_be_empty() -> None:
    seen = Seen(CSR(np.zeros(4, dtype=np.int64), np.zeros(0, dtype=np.int32), None, 5), 5, CPU)
    assert not seen.contains(torch.arange(3)[:, None], torch.arange(5)).any()


@pytest.mark.parametrize("name", ["uniform", "popularity", "dynamic"])
def test_no_positive_is_returned_unmasked(name, seen, generator) -> None:
    sampler = samplers.get(name)(n_items=6, popularity=POPULARITY, positives=seen)
    positives = batch([0, 0, 1, 2, 3], [0, 3, 1, 5, 2])
    users = torch.tensor([2, 1, 0, 3])  # row 0 is user 2, …
    scores = {"queries": torch.randn(4, 3, generator=generator), "items": torch.randn(6, 3).__getitem__}
    drawn = sampler.draw(positives, 50, users=users, generator=generator, **scores)
    dense = np.zeros((4, 6), dtype=bool)
    dense[seen.row_of_entry(), seen.indices] = True
    is_positive = dense[users[positives.rows].numpy()[:, None], drawn.columns.numpy()]
    np.testing.assert_array_equal(drawn.mask.numpy(), is_positive)
    assert drawn.mask[4].all()  # user 3 has met everything
    assert not drawn.mask[2:4].any()  # users 1 and 0 have met little: redraws find something new


def test_exclusion_draws_from_what_is_left(seen, generator) -> None:
    sampler = samplers.PopularitySampler(n_items=6, popularity=POPULARITY, exponent=1.0, positives=seen)
    drawn = sampler.draw(batch([0] * 300, [0] * 300), 300, users=torch.tensor([0]), generator=generator)
    left = np.maximum(POPULARITY, 1).astype(float)
    left[[0, 3]] = 0
    counts = np.bincount(drawn.columns[~drawn.mask].numpy(), minlength=6)
    kept = left > 0
    assert counts[~kept].sum() == 0
    assert stats.chisquare(counts[kept], left[kept] / left.sum() * counts.sum()).pvalue > 1e-3
    torch.testing.assert_close(drawn.log_q, sampler.proposal.log_q(drawn.columns))  # the proposal's, not the rest's


def test_no_rounds_masks_every_hit(seen, generator) -> None:
    sampler = samplers.UniformSampler(n_items=6, positives=seen, rounds=0)
    drawn = sampler.draw(batch([0], [0]), 6000, users=torch.tensor([0]), generator=generator)
    assert 0.28 < drawn.mask.float().mean() < 0.39  # 2 of 6


def test_dynamic_is_the_argmax_of_its_pool() -> None:
    queries, vectors = torch.randn(3, 4), torch.randn(40, 4)
    positives = batch([0, 0, 2], [1, 2, 3])
    sampler = samplers.DynamicSampler(n_items=40, pool=5)
    drawn = sampler.draw(
        positives, 2, queries=queries, items=vectors.__getitem__, generator=torch.Generator().manual_seed(3)
    )
    same = samplers.UniformSampler(n_items=40)
    pools = same.draw(positives, 10, generator=torch.Generator().manual_seed(3)).columns.view(3, 2, 5)
    scores = queries @ vectors.T
    for p, row in enumerate(positives.rows):
        for j in range(2):
            best = max(pools[p, j].tolist(), key=lambda y: scores[row, y].item())
            assert drawn.columns[p, j] == best
    assert drawn.log_q is None
    assert drawn.positive_log_q is None


def test_dynamic_over_a_large_pool_finds_the_hardest_unseen(seen, generator) -> None:
    sampler = samplers.DynamicSampler(n_items=6, popularity=POPULARITY, positives=seen, pool=500, exponent=0.5)
    vectors = torch.tensor([[6.0], [5.0], [4.0], [3.0], [2.0], [1.0]], requires_grad=True)
    drawn = sampler.draw(
        batch([0, 1, 2], [0, 0, 0]),
        3,
        queries=torch.tensor([[1.0], [1.0], [-1.0]]),
        items=vectors.__getitem__,
        users=torch.tensor([0, 1, 2]),
        generator=generator,
    )
    assert drawn.columns.tolist() == [[1, 1, 1], [0, 0, 0], [4, 4, 4]]
    assert not drawn.mask.any()


def test_dynamic_in_chunks(monkeypatch) -> None:
    """Small chunks give each positive a pool of its own too, and the right shapes."""
    monkeypatch.setattr("taylorank.samplers.dynamic.CHUNK", 1)
    vectors = torch.arange(6.0)[:, None]
    sampler = samplers.DynamicSampler(n_items=6, pool=400)
    signs = torch.tensor([[1.0], [-1.0]])
    drawn = sampler.draw(
        batch([0, 0, 1], [0, 1, 2]), 2, queries=signs, items=vectors.__getitem__, generator=torch.Generator()
    )
    assert drawn.columns.tolist() == [[5, 5], [5, 5], [0, 0]]


def test_in_batch(seen, generator) -> None:
    positives = batch([0, 0, 1, 2], [1, 4, 2, 4])
    plain = samplers.InBatchSampler(n_items=6, popularity=POPULARITY).draw(positives, 2, generator=generator)
    assert plain.columns.tolist() == [1, 4, 2, 4]
    np.testing.assert_array_equal(plain.mask, positives.columns.numpy()[:, None] == positives.columns.numpy())
    share = np.maximum(POPULARITY, 1) / np.maximum(POPULARITY, 1).sum()
    np.testing.assert_allclose(plain.log_q.numpy(), np.log(share[[1, 4, 2, 4]]), rtol=1e-6)
    np.testing.assert_array_equal(plain.log_q, plain.positive_log_q)
    excluding = samplers.InBatchSampler(n_items=6, popularity=POPULARITY, positives=seen)
    drawn = excluding.draw(positives, 2, users=torch.tensor([2, 1, 0]), generator=generator)
    assert drawn.mask.tolist() == [
        [True, False, True, False],  # user 2 has met 1 and 2
        [True, True, True, True],
        [False, False, True, False],  # user 1 has met nothing
        [False, True, False, True],
    ]


def test_in_batch_offers_a_part_of_a_large_batch(generator) -> None:
    sampler = samplers.InBatchSampler(n_items=6, popularity=POPULARITY, limit=3)
    drawn = sampler.draw(batch([0] * 8, [1, 1, 1, 1, 4, 4, 5, 5]), 2, generator=generator)
    assert drawn.columns.shape == drawn.log_q.shape == (3,)
    assert drawn.mask.shape == (8, 3)
    assert drawn.positive_log_q.shape == (8,)
    assert set(drawn.columns.tolist()) <= {1, 4, 5}


@pytest.mark.parametrize("name", samplers.names())
def test_a_generator_gives_the_same_draws_again(name, seen) -> None:
    sampler = samplers.get(name)(
        n_items=6, popularity=POPULARITY, positives=seen, **({"limit": 2} if "in" in name else {})
    )
    scores = {"queries": torch.ones(2, 3), "items": torch.randn(6, 3).__getitem__}
    stream = torch.Generator().manual_seed(11)

    def draw() -> list[torch.Tensor]:
        drawn = sampler.draw(batch([0, 0, 1], [0, 3, 1]), 20, users=torch.tensor([0, 1]), generator=stream, **scores)
        return [drawn.columns, drawn.mask]

    state = stream.get_state()
    first, second = draw(), draw()
    stream.set_state(state)
    global_state = torch.get_rng_state()
    for wanted, again in zip(first + second, draw() + draw(), strict=True):
        assert torch.equal(wanted, again)
    assert torch.equal(torch.get_rng_state(), global_state)
    assert not all(torch.equal(a, b) for a, b in zip(first, second, strict=True))


@pytest.mark.parametrize("name", samplers.names())
def test_a_batch_without_positives(name, seen, generator) -> None:
    sampler = samplers.get(name)(n_items=6, popularity=POPULARITY, positives=seen)
    none = Positives(torch.zeros(0, dtype=torch.int64), torch.zeros(0, dtype=torch.int64), torch.zeros(0))
    scores = {"queries": torch.ones(2, 3), "items": torch.randn(6, 3).__getitem__}
    drawn = sampler.draw(none, 4, users=torch.tensor([0, 1]), generator=generator, **scores)
    assert drawn.columns.numel() == 0
    assert drawn.columns.dtype == torch.int64


@pytest.mark.parametrize(
    ("name", "options", "words"),
    [
        ("popularity", {"popularity": None}, "popularity"),
        ("in-batch", {"popularity": None}, "popularity"),
        ("popularity", {"popularity": [1, 2]}, "one count per item"),
        ("in-batch", {"popularity": [1, 2]}, "one count per item"),
        ("popularity", {"popularity": [1, 2, -1, 0, 0, 0]}, "counts"),
        ("popularity", {"popularity": [1, 2, np.nan, 0, 0, 0]}, "counts"),
        ("popularity", {"exponent": np.inf}, "exponent"),
        ("popularity", {"exponent": 1e6}, "exponent"),
        ("dynamic", {"pool": 0}, "pool"),
        ("in-batch", {"limit": 0}, "limit"),
        ("uniform", {"n_items": 0}, "n_items"),
        ("uniform", {"rounds": -1}, "rounds"),
        ("uniform", {"positives": CSR(np.array([0]), np.zeros(0, dtype=np.int32), None, 7)}, "7 columns"),
    ],
)
def test_bad_options_are_refused(name, options, words) -> None:
    with pytest.raises(ParameterError, match=words):
        samplers.get(name)(**{"n_items": 6, "popularity": POPULARITY, **options})


def test_bad_draws_are_refused(seen, generator) -> None:
    positives = batch([0], [1])
    with pytest.raises(ParameterError, match="no sampler is called 'hard'; choose from uniform"):
        samplers.get("hard")
    with pytest.raises(ParameterError, match="users="):
        samplers.UniformSampler(n_items=6, positives=seen).draw(positives, 1, generator=generator)
    with pytest.raises(ParameterError, match="n=0"):
        samplers.UniformSampler(n_items=6).draw(positives, 0, generator=generator)
    with pytest.raises(ParameterError, match="generator"):
        samplers.UniformSampler(n_items=6).draw(positives, 1, generator=None)
    with pytest.raises(ParameterError, match="queries="):
        samplers.DynamicSampler(n_items=6).draw(positives, 1, generator=generator)


@pytest.mark.parametrize("name", samplers.names())
def test_the_registry_says_what_the_sampler_does(name, generator) -> None:
    registered = samplers.get(name)
    given = ("self", "n_items", "popularity", "positives", "device")
    signature = inspect.signature(registered.cls).parameters
    assert {k: p.default for k, p in signature.items() if k not in given} == registered.options
    scores = {"queries": torch.ones(3, 2), "items": lambda columns: torch.ones(*columns.shape, 2)}
    sampler = registered(n_items=6, popularity=POPULARITY)
    drawn = sampler.draw(batch([0, 1, 2], [1, 2, 3]), 5, generator=generator, **scores)
    assert (drawn.log_q is not None) == (drawn.positive_log_q is not None) == registered.knows_log_q
    assert (drawn.columns.shape[-1] == 5) == registered.takes_count
    if registered.needs_scores:
        with pytest.raises(ParameterError, match="scores"):
            sampler.draw(batch([0], [1]), 1, generator=generator)
    else:
        sampler.draw(batch([0], [1]), 1, generator=generator)
