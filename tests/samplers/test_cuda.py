"""On a GPU the samplers draw there, from the same distributions, and leave out the same pairs."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy import stats

from taylorank import samplers
from taylorank.losses.batch import Positives

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU here")

POPULARITY = np.array([0, 1, 2, 5, 30, 100])


@pytest.mark.parametrize("name", samplers.names())
def test_exclusion_and_place(name, seen) -> None:
    sampler = samplers.get(name)(n_items=6, popularity=POPULARITY, positives=seen, device="cuda")
    rows, columns, users = (torch.tensor(x, device="cuda") for x in ([0, 0, 1, 2], [0, 3, 1, 5], [0, 1, 3]))
    vectors = torch.randn(6, 3, device="cuda")
    drawn = sampler.draw(
        Positives(rows, columns, torch.ones(4, device="cuda")),
        40,
        queries=torch.randn(3, 3, device="cuda"),
        items=vectors.__getitem__,
        users=users,
        generator=torch.Generator("cuda").manual_seed(0),
    )
    assert drawn.columns.device.type == drawn.mask.device.type == "cuda"
    dense = np.zeros((4, 6), dtype=bool)
    dense[seen.row_of_entry(), seen.indices] = True
    shown = np.broadcast_to(drawn.columns.cpu().numpy(), drawn.mask.shape)
    hits = dense[users[rows].cpu().numpy()[:, None], shown]
    assert not (hits & ~drawn.mask.cpu().numpy()).any()


def test_popularity_distribution() -> None:
    sampler = samplers.PopularitySampler(n_items=6, popularity=POPULARITY, exponent=0.5, device="cuda")
    zeros = torch.zeros(1000, dtype=torch.int64, device="cuda")
    drawn = sampler.draw(Positives(zeros, zeros, zeros), 1000, generator=torch.Generator("cuda").manual_seed(1))
    q = np.maximum(POPULARITY, 1) ** 0.5
    counts = np.bincount(drawn.columns.cpu().numpy().ravel(), minlength=6)
    assert stats.chisquare(counts, q / q.sum() * counts.sum()).pvalue > 1e-3
