"""Small kernels of tensors against plain ones: products of halves, group maxima, membership, the inverse of EASE."""

from __future__ import annotations

import numpy as np
import pytest

from taylorank.data import CSR
from taylorank.kernels.arrays import contains_on
from taylorank.ranking.relevance import contains

torch = pytest.importorskip("torch")

from taylorank.kernels.cuda import inverse  # noqa: E402
from taylorank.kernels.cuda.precision import product  # noqa: E402
from taylorank.kernels.cuda.selection import group_maxima  # noqa: E402
from taylorank.models.ease_cuda import PANEL, symmetric_inverse  # noqa: E402

DEVICES = [
    "cpu",
    pytest.param("cuda", marks=pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no CUDA device")),
]


@pytest.fixture(params=DEVICES)
def device(request):
    return request.param


def test_a_product_by_halves_has_the_precision_of_float32(device):
    rng = np.random.default_rng(0)
    left, right = (rng.standard_normal(shape).astype(np.float32) for shape in ((3000, 200), (200, 200)))
    found = product(*(torch.tensor(part, device=device) for part in (left, right))).cpu().numpy()
    exact = left.astype(np.float64) @ right
    assert np.abs(found - exact).max() <= 2e-6 * np.sqrt(200) * np.abs(exact).max() / 10


@pytest.mark.parametrize("shape", [(1, 32), (5, 96), (70, 4096), (3, 32 * 300)])
def test_maxima_of_groups(device, shape):
    scores = np.random.default_rng(1).standard_normal(shape).astype(np.float32)
    scores[0, 0], scores[-1, -1] = -np.inf, np.nan
    expected = scores.reshape(shape[0], -1, 32).max(axis=2)
    np.testing.assert_array_equal(group_maxima(torch.tensor(scores, device=device), 32).cpu().numpy(), expected)


@pytest.mark.parametrize("density", [0.0, 0.02, 0.5])
def test_membership_on_a_device_is_that_of_the_host(device, density):
    rng = np.random.default_rng(2)
    dense = rng.random((40, 70)) < density
    rows = CSR(np.append(0, np.cumsum(dense.sum(axis=1))), np.nonzero(dense)[1].astype(np.int32), None, 70)
    wanted = rng.integers(-1, 70, (40, 9))
    found = contains_on(device, rows, wanted)
    np.testing.assert_array_equal(found, contains(rows, wanted))
    np.testing.assert_array_equal(found, np.take_along_axis(dense, np.maximum(wanted, 0), 1) & (wanted >= 0))


@pytest.mark.parametrize("size", [1, 50, PANEL + 3])
def test_the_inverse_from_a_cholesky_factor(device, size):
    rng = np.random.default_rng(3)
    half = rng.standard_normal((size, 20))
    square = half @ half.T + 5 * np.eye(size)
    lower = torch.tensor(np.linalg.cholesky(square), device=device)
    np.testing.assert_allclose(symmetric_inverse(lower).cpu().numpy() @ square, np.eye(size), atol=1e-8)


@pytest.mark.parametrize("size", [3, 96, 97, 200])
def test_inverses_on_either_side_of_where_the_host_makes_them(device, size):
    half = np.random.default_rng(4).standard_normal((size, 2 * size))
    square = half @ half.T
    found = inverse(torch.tensor(square, device=device))
    assert found.device.type == device
    np.testing.assert_allclose(found.cpu().numpy() @ square, np.eye(size), atol=1e-7)
