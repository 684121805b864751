"""The SVD goes on until only rounding is left, if asked to."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from taylorank.data import Interactions, planted
from taylorank.models import RG2
from taylorank.objectives import RG2Objective, rg_objective
from taylorank.solvers.spectral import scaled_matrix


@pytest.mark.parametrize(("groups", "shape", "factors"), [(2, (400, 240), 24), (2, (500, 300), 40)])
def test_tolerance_zero_does_not_stop_where_convergence_is_slow(groups, shape, factors):
    """A large singular value above a flat rest: residuals fall by less than half at a time, which is no rounding."""
    users, items = (np.arange(size) % groups for size in shape)
    chance = np.where(users[:, None] == items, 0.9, 0.02)
    data = sp.csr_array((np.random.default_rng(0).random(shape) < chance).astype(np.float64))
    assert RG2(factors, tolerance=0).fit(data).residual_ < 1e-5


@pytest.mark.parametrize("shape", [(60, 40), (40, 60)])
def test_both_products_at_once(shape):
    data = planted(*shape, interactions=600, random_state=2)
    objective = rg_objective(RG2Objective, data, proposal_exponent=0.8, context_exponent=1.2, dtype=np.float64)
    for matrix in (scaled_matrix(objective), scaled_matrix(objective).transposed):
        noise = np.random.default_rng(0).standard_normal((matrix.shape[1], 3))
        block = matrix.apply_transposed(matrix.apply(noise))
        expected = matrix.apply_transposed(matrix.apply(block))
        np.testing.assert_allclose(matrix.apply_both(block), expected, atol=1e-10 * np.abs(expected).max())


@pytest.mark.parametrize(("most", "made"), [(9, 17), (24, 17), (40, 33), (66, 65), (100, 97)])
def test_passes_that_run_out_before_the_basis_is_full_end_the_fit(most, made):
    """Sixteen columns are multiplied at a time, however few are wanted; the first such step is always made."""
    rng = np.random.default_rng(0)
    data = Interactions.from_arrays(rng.integers(0, 900, 9000), rng.integers(0, 700, 9000))
    assert RG2(2, regularization=0.1, max_passes=most).fit(data).passes_ == made
