"""The SVD goes on until only rounding is left, if asked to."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from taylorank.models import RG2


@pytest.mark.parametrize(("groups", "shape", "factors"), [(2, (400, 240), 24), (2, (500, 300), 40)])
def test_tolerance_zero_does_not_stop_where_convergence_is_slow(groups, shape, factors):
    """A large singular value above a flat rest: residuals fall by less than half at a time, which is no rounding."""
    users, items = (np.arange(size) % groups for size in shape)
    chance = np.where(users[:, None] == items, 0.9, 0.02)
    data = sp.csr_array((np.random.default_rng(0).random(shape) < chance).astype(np.float64))
    assert RG2(factors, tolerance=0).fit(data).residual_ < 1e-5
