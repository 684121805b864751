"""Kernels of tensors against those of NumPy: Triton's on a GPU or interpreted on a CPU, and their plain torch twins.

`test_cuda_interpreted.py` runs this file once more with TRITON_INTERPRET=1.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

from taylorank.data.csr import CSR
from taylorank.errors import ParameterError
from taylorank.kernels import RowSystem, Tilt, gather_sum, gram, inverse, nonzero_scores, reference, row_solve, top_k

torch = pytest.importorskip("torch", reason="torch is not installed")
from taylorank.kernels.cuda import DeviceRows, best, entry_products, gather, outer_sums  # noqa: E402
from taylorank.kernels.cuda.compiler import INTERPRETED  # noqa: E402

LENGTHS = (3, 0, 1, 40, 0, 64, 65, 300, 7, 8, 9)
COLUMNS = 50


@pytest.fixture(params=["cpu", "cuda"])
def device(request, monkeypatch):
    """Each place for tensors; pieces of long rows are short, so that small data have them."""
    if request.param == "cuda" and not torch.cuda.is_available():
        pytest.skip("there is no CUDA device")
    monkeypatch.setattr(gather, "LONGEST", 32)
    monkeypatch.setattr(outer_sums, "LONGEST", 48)
    return request.param


def random_rows(lengths: Any = LENGTHS, columns: int = COLUMNS, *, seed: int = 0, weighted: bool = True) -> CSR:
    rng = np.random.default_rng(seed)
    indptr = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    weights = rng.random(indptr[-1]).astype(np.float32) if weighted else None
    return CSR(indptr, rng.integers(0, columns, indptr[-1], dtype=np.int32), weights, columns)


def close(found: Any, expected: np.ndarray, tolerance: float) -> None:
    result = found.cpu().double().numpy()
    assert result.shape == expected.shape
    assert np.abs(result - expected).max(initial=0) <= tolerance * max(1e-3, np.abs(expected).max(initial=0))


@pytest.mark.parametrize("width", [1, 7, 64, 129, 300])
@pytest.mark.parametrize("weighted", [True, False])
def test_gather_sum(device, width, weighted):
    rows = random_rows(weighted=weighted)
    Q = np.random.default_rng(1).standard_normal((COLUMNS, width))
    tensors = DeviceRows.from_csr(rows, device)
    expected = gather_sum(rows, Q)
    for kind, tolerance in ((torch.float64, 1e-12), (torch.float32, 1e-5)):
        found = gather_sum(tensors, torch.tensor(Q, dtype=kind, device=device))
        assert found.dtype == kind
        close(found, expected, tolerance)


def test_gather_sum_of_half_precision_adds_in_float32(device):
    rows, Q = random_rows([5000], weighted=False), np.random.default_rng(1).random((COLUMNS, 20))
    half = torch.tensor(Q, dtype=torch.bfloat16, device=device)
    found = gather_sum(DeviceRows.from_csr(rows, device), half)
    assert found.dtype == torch.float32
    close(found, gather_sum(rows, half.cpu().double().numpy()), 1e-5)  # sums in bfloat16 would stop at 512


def test_gather_sum_options(device):
    rows, Q = random_rows(), np.random.default_rng(1).standard_normal((COLUMNS, 20))
    tensors, factors = DeviceRows.from_csr(rows, device), torch.tensor(Q, dtype=torch.float32, device=device)
    close(gather_sum(tensors, factors, weights=None), gather_sum(rows, Q, weights=None), 1e-5)
    own = np.random.default_rng(2).random(rows.nnz)
    given = torch.tensor(own, dtype=torch.float32, device=device)
    close(gather_sum(tensors, factors, weights=given), gather_sum(rows, Q, weights=own), 1e-5)
    out = torch.full((rows.n_rows, 20), torch.nan, dtype=torch.bfloat16, device=device)
    assert gather_sum(tensors, factors, out=out) is out
    close(out, gather_sum(rows, Q), 1e-2)
    long_indices = dataclasses.replace(tensors, indices=tensors.indices.long())
    assert torch.equal(gather_sum(long_indices, factors), gather_sum(tensors, factors))


def test_the_same_bits_twice(device):
    rows, Q = random_rows([200] * 30), np.random.default_rng(1).standard_normal((COLUMNS, 33)).astype(np.float32)
    tensors, factors = DeviceRows.from_csr(rows, device), torch.tensor(Q, device=device)
    assert torch.equal(gather_sum(tensors, factors), gather_sum(tensors, factors))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"indices": torch.tensor([0, 5])}, "index 5 is outside the 3 rows"),
        ({"indptr": torch.tensor([0, 3])}, "indptr goes from 0 to 3 but there are 2 indices"),
        ({"indptr": torch.tensor([0, 2, 1, 2])}, "indptr falls after row 1"),
        ({"weights": torch.ones(3)}, "one weight per entry"),
    ],
)
def test_bad_rows_are_refused(change, said):
    rows = dataclasses.replace(DeviceRows(torch.tensor([0, 2]), torch.tensor([0, 1]), None, 3), **change)
    with pytest.raises(ParameterError, match=said):
        gather_sum(rows, torch.ones(3, 2))


def test_other_weights_keep_what_is_known_of_the_rows(device):
    rows = DeviceRows.from_csr(random_rows(), device)
    factors = torch.ones(COLUMNS, 3, device=device)
    gather_sum(rows, factors)
    other = rows.with_weights(2 * rows.weights)
    assert other.schedules == rows.schedules
    assert torch.allclose(gather_sum(other, factors), 2 * gather_sum(rows, factors))
    assert not dataclasses.replace(rows, indptr=rows.indptr.flip(0)).schedules


def test_rows_there_and_back(device):
    rows = random_rows()
    tensors = DeviceRows.from_csr(rows, device)
    for one, other in ((tensors.to_csr(), rows), (tensors.transpose().to_csr(), rows.transpose())):
        assert one.n_columns == other.n_columns
        assert np.array_equal(one.indptr, other.indptr)
        assert np.array_equal(one.indices, other.indices)
        assert np.array_equal(one.weights, other.weights)


@pytest.mark.parametrize("shape", [(5000, 3), (1025, 600), (0, 4), (7, 0)], ids=str)
def test_gram(device, shape):
    X = np.random.default_rng(0).standard_normal(shape).astype(np.float32)
    found = gram(torch.tensor(X, device=device))
    assert found.dtype == torch.float64
    close(found, X.astype(float).T @ X.astype(float), 1e-13)


def test_inverse(device):
    X = np.random.default_rng(0).standard_normal((30, 8))
    close(inverse(torch.tensor(X.T @ X, device=device)), np.linalg.inv(X.T @ X), 1e-12)
    singular = np.diag([2.0, 0.0])
    close(inverse(torch.tensor(singular, device=device)), np.diag([0.5, 0.0]), 1e-12)
    for bad in (np.nan, np.inf, -np.inf):
        with pytest.raises(ParameterError, match="infinite or not a number"):
            inverse(torch.tensor(np.diag([bad, 1.0]), device=device))


@pytest.mark.parametrize("width", [1, 20, 200])
def test_scores_of_stored_pairs(device, width):
    rows, rng = random_rows(), np.random.default_rng(1)
    Q, P = rng.standard_normal((COLUMNS, width)), rng.standard_normal((rows.n_rows, width))
    tensors = DeviceRows.from_csr(rows, device)
    for kind, tolerance in ((torch.float64, 1e-12), (torch.float32, 1e-5)):
        users, items = (torch.tensor(part, dtype=kind, device=device) for part in (P, Q))
        found = nonzero_scores(tensors, users, item_factors=items)
        assert found.dtype == kind
        close(found, nonzero_scores(rows, P, item_factors=Q), tolerance)
    with pytest.raises(ParameterError, match="pass a tensor of shape"):
        nonzero_scores(tensors, items, item_factors=items)


def test_thousands_of_factors(device):
    rows, rng, width = random_rows([3, 0, 40]), np.random.default_rng(1), 4096
    Q, P = rng.standard_normal((COLUMNS, width)), rng.standard_normal((rows.n_rows, width))
    tensors = DeviceRows.from_csr(rows, device)
    users, items = (torch.tensor(part, dtype=torch.float32, device=device) for part in (P, Q))
    close(gather_sum(tensors, items), gather_sum(rows, Q), 1e-5)
    close(nonzero_scores(tensors, users, item_factors=items), nonzero_scores(rows, P, item_factors=Q), 1e-5)
    ids, scores = top_k(users, items, k=5)
    assert np.array_equal(ids.cpu().numpy(), top_k(P, Q, k=5)[0])
    close(scores, np.sort(P @ Q.T, axis=1)[:, :-6:-1], 1e-5)


@pytest.mark.parametrize("width", [1, 20, 200])
def test_products_of_entries(device, width):
    rows, rng = random_rows(), np.random.default_rng(1)
    Q, P = rng.standard_normal((COLUMNS, width)), rng.standard_normal((rows.n_rows, width))
    scores = reference.nonzero_scores(rows, P, Q)
    tensors = DeviceRows.from_csr(rows, device)
    found = entry_products(tensors, *(torch.tensor(part, device=device) for part in (Q, P)), weights=tensors.weights)
    close(found, gather_sum(rows, Q, weights=scores * rows.weights), 1e-12)


def ranked(device: str, P: np.ndarray, Q: np.ndarray, *, k: int, **options: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return lists by tensors, and check them against those by NumPy: the inputs are whole, so scores are exact."""
    tensors = {
        name: DeviceRows.from_csr(value, device) if isinstance(value, CSR) else torch.tensor(value, device=device)
        for name, value in options.items()
    }
    ids, scores = top_k(torch.tensor(P, device=device), torch.tensor(Q, device=device), k=k, **tensors)
    expected, values = reference.top_k(P, Q, k=k, **options)
    assert ids.dtype == torch.int64
    assert scores.dtype == torch.float32
    np.testing.assert_array_equal(ids.cpu().numpy(), expected)
    np.testing.assert_array_equal(scores.cpu().numpy(), values)
    return ids.cpu().numpy(), scores.cpu().numpy()


def whole(*shape: int, seed: int = 0, most: int = 2) -> np.ndarray:
    """Small whole numbers: many products are equal."""
    return np.random.default_rng(seed).integers(-most, most + 1, shape).astype(np.float32)


@pytest.mark.parametrize("n_items", [3, 30, 257, 3000])
@pytest.mark.parametrize("k", [1, 5, 20])
def test_lists_with_many_ties(device, n_items, k):
    ranked(device, whole(12, 3), whole(n_items, 3, seed=1), k=k)


def test_lists_with_masks_scales_and_offsets(device, monkeypatch):
    monkeypatch.setattr(best, "CPU_CELLS", 5000)
    monkeypatch.setattr(best, "BLOCK_CELLS", 5000)
    users, n_items, rng = 30, 900, np.random.default_rng(0)
    allowed = rng.random(n_items) < 0.7
    seen = CSR(np.arange(0, users * 20 + 1, 20), np.tile(np.arange(0, 900, 45, dtype=np.int32), users), None, n_items)
    lines = {"scales": whole(n_items, seed=3), "offsets": whole(n_items, seed=4)}
    ids, _ = ranked(device, whole(users, 4), whole(n_items, 4, seed=1), k=7, seen=seen, allowed=allowed, **lines)
    assert allowed[ids].all()
    assert (ids % 45 != 0).all()


def test_short_lists_are_padded(device):
    allowed = np.zeros(2000, dtype=bool)
    allowed[[5, 1999]] = True
    ids, scores = ranked(device, whole(3, 4), whole(2000, 4, seed=1), k=4, allowed=allowed)
    assert (ids[:, 2:] == -1).all()
    assert np.isnan(scores[:, 2:]).all()


def test_scores_that_are_infinite_or_no_numbers(device):
    Q = whole(2000, 2, seed=1)
    offsets = np.where(np.arange(2000) < 1998, -np.inf, 0).astype(np.float32)
    ranked(device, whole(3, 2), Q, k=3, offsets=offsets)
    Q[70, 1] = np.inf
    P = np.ones((4, 2), dtype=np.float32)
    assert (ranked(device, P, Q, k=3)[0][:, 0] == 70).all()
    P[2, 1] = 0.0
    with pytest.raises(ParameterError, match="the score of row 2 and item 70 is not a number"):
        top_k(torch.tensor(P, device=device), torch.tensor(Q, device=device), k=3)


def test_split_products_are_as_good_as_single_precision(device):
    rng = np.random.default_rng(0)
    P, Q = (torch.tensor(rng.standard_normal((n, 40)), dtype=torch.float32, device=device) for n in (30, 600))
    score = best._split_scorer(P, Q, None, 608)
    exact = P.double() @ Q.double().mT
    assert float((score(0, 30)[:, :600] - exact).abs().max()) < 1e-5 * float(exact.abs().max())
    assert bool((score(0, 30)[:, 600:] == -torch.inf).all())


def random_system(
    lengths: Any = LENGTHS, width: int = 7, *, tilt: bool = False, seed: int = 0
) -> tuple[RowSystem, np.ndarray]:
    """Return a well-conditioned system with every part present, and factors, in float64."""
    rng = np.random.default_rng(seed)
    rows, n = random_rows(lengths, weighted=False), len(lengths)
    Q = rng.standard_normal((COLUMNS, width)) / np.sqrt(width)
    part = Tilt(0.3 * rng.standard_normal((n, width)) / width, rng.random(width) / width, rng.random(n))
    system = RowSystem(
        rows,
        Q.T @ Q,
        background=0.1 + rng.random(n),
        regularization=1 + rng.random(n),
        weights=rng.random(rows.nnz),
        targets=rng.standard_normal(rows.nnz),
        offsets=rng.standard_normal(n),
        direction=rng.standard_normal(width),
        tilt=part if tilt else None,
    )
    return system, Q


def on_device(system: RowSystem, device: str) -> RowSystem:
    """Return the system with tensors in place of arrays."""

    def moved(value: Any) -> Any:
        return torch.tensor(value, device=device) if isinstance(value, np.ndarray) else value

    parts = {one.name: moved(getattr(system, one.name)) for one in dataclasses.fields(system)}
    tilt = system.tilt and Tilt(*(moved(getattr(system.tilt, one)) for one in ("rows", "mean", "scales")))
    return RowSystem(**{**parts, "rows": DeviceRows.from_csr(system.rows, device), "tilt": tilt})


@pytest.mark.parametrize("method", ["cholesky", "cg"])
@pytest.mark.parametrize("tilt", [False, True], ids=["plain", "tilt"])
@pytest.mark.parametrize("width", [1, 7, 16, 40, 64, 100, 150])
def test_row_solve(device, width, tilt, method):
    if INTERPRETED and (width not in (7, 40) or (method == "cg" and (width > 7 or tilt))):
        pytest.skip("slow where kernels are interpreted")
    system, Q = random_system(width=width, tilt=tilt)
    expected = row_solve(system, Q, method="cholesky")
    for kind, tolerance in ((torch.float32, 1e-4), (torch.float64, 1e-9)):
        factors = torch.tensor(Q, dtype=kind, device=device)
        found = row_solve(on_device(system, device), factors, method=method, steps=30 + width)
        assert found.dtype == kind
        close(found, expected, tolerance)


def test_many_tiles(device):
    system, Q = random_system([3, 60], 150, tilt=True)
    factors = torch.tensor(Q, dtype=torch.float32, device=device)
    close(row_solve(on_device(system, device), factors, method="cholesky"), row_solve(system, Q), 1e-4)


@pytest.mark.parametrize("rows", [4, 40], ids=["few rows", "many rows"])
def test_conjugate_gradients_make_the_same_steps(device, rows):
    system, Q = random_system([5] * rows, 20, tilt=True)
    start = np.random.default_rng(3).standard_normal((rows, 20))
    expected = row_solve(system, Q, method="cg", start=start, steps=2)
    given = {"start": torch.tensor(start, device=device), "steps": 2}
    close(row_solve(on_device(system, device), torch.tensor(Q, device=device), method="cg", **given), expected, 1e-9)


@pytest.mark.parametrize("method", ["cholesky", "cg"])
def test_shared_values(device, method):
    system, Q = random_system(width=12)
    plain = RowSystem(system.rows, system.gram, background=0.5, regularization=2.0, weights=3.0, targets=1.5)
    found = row_solve(
        on_device(plain, device), torch.tensor(Q, dtype=torch.float32, device=device), method=method, steps=40
    )
    close(found, row_solve(plain, Q), 1e-4)


@pytest.mark.parametrize("lengths", [[], [0], [0] * 50, [5], [3000], [0, 0, 700]], ids=str)
def test_unusual_rows(device, lengths):
    system, Q = random_system(lengths, 5)
    factors = torch.tensor(Q, dtype=torch.float32, device=device)
    close(row_solve(on_device(system, device), factors, method="cholesky"), row_solve(system, Q), 1e-4)


def test_batches(device, monkeypatch):
    monkeypatch.setattr("taylorank.kernels.cuda.row_solver.cells_at_once", lambda device, most, on_cpu: 3 * 49)
    system, Q = random_system(tilt=True)
    factors = torch.tensor(Q, dtype=torch.float32, device=device)
    close(row_solve(on_device(system, device), factors, method="cholesky"), row_solve(system, Q), 1e-4)


@pytest.mark.parametrize("kind", [torch.float32, torch.float64])
def test_a_singular_row_is_named(device, kind):
    system, Q = random_system([30] * 20, 10)
    Q[:3] = 1.0
    indices = system.rows.indices.copy()
    indices[30 * 12 : 30 * 13] %= 3  # row 12: thirty times the same vector
    rows = dataclasses.replace(system.rows, indices=indices)
    system = dataclasses.replace(system, rows=rows, background=0.0, regularization=0.0, weights=1.0)
    with pytest.raises(ParameterError, match="row 12 is not positive definite; raise regularization"):
        row_solve(on_device(system, device), torch.tensor(Q, dtype=kind, device=device), method="cholesky")


def test_pivots_too_small_for_single_precision(device):
    rows = CSR(np.array([0, 40]), np.zeros(40, dtype=np.int32), None, 1)
    system = RowSystem(rows, np.zeros((2, 2)), background=0.0, regularization=1e-4, weights=1.0, targets=1.0)
    factors = torch.tensor([[10.0, 10.0]], device=device)
    close(row_solve(on_device(system, device), factors, method="cholesky"), np.full((1, 2), 0.05), 1e-4)


def test_nothing_at_all_is_solved_by_zero(device):
    rows = CSR(np.zeros(4, dtype=np.int64), np.zeros(0, dtype=np.int32), None, 5)
    system = RowSystem(rows, np.zeros((3, 3)), background=1.0, regularization=0.0)
    found = row_solve(on_device(system, device), torch.ones(5, 3, device=device), method="cholesky")
    close(found, np.zeros((3, 3)), 0.0)


def test_a_method_that_tensors_do_not_have():
    system, Q = random_system()
    with pytest.raises(ParameterError, match="choose from auto, cholesky, cg for tensors"):
        row_solve(on_device(system, "cpu"), torch.tensor(Q), method="blocks")
