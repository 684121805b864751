"""Rows that stream through a device give the sums of rows that stay there, to the bit."""

from __future__ import annotations

import numpy as np
import pytest

from taylorank.data.csr import CSR
from taylorank.errors import ParameterError, TrainingWarning
from taylorank.kernels import gather_sum

torch = pytest.importorskip("torch", reason="torch is not installed")
from taylorank.kernels.cuda import DeviceRows, StreamedRows, gather, scaled, streamed  # noqa: E402
from taylorank.kernels.cuda.memory import free_memory, read_size  # noqa: E402

LENGTHS = (3, 0, 1, 40, 0, 0, 64, 65, 300, 7, 8, 9, 0)
COLUMNS = 50


@pytest.fixture(params=["cpu", "cuda"])
def device(request, monkeypatch):
    """Each place for tensors; pieces of long rows are short, so that small data have them."""
    monkeypatch.setattr(gather, "LONGEST", 32)
    if request.param == "cuda" and not torch.cuda.is_available():
        pytest.skip("there is no CUDA device")
    return request.param


def random_rows(lengths=LENGTHS, *, weighted=True, seed=0):
    rng = np.random.default_rng(seed)
    indptr = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    weights = rng.random(indptr[-1]).astype(np.float32) if weighted else None
    return CSR(indptr, rng.integers(0, COLUMNS, indptr[-1], dtype=np.int32), weights, COLUMNS)


def normal(*shape, device, seed=1, dtype=torch.float32):
    return torch.tensor(np.random.default_rng(seed).standard_normal(shape), dtype=dtype, device=device)


@pytest.mark.parametrize("block_bytes", [1, 100, 600, 1 << 20])
@pytest.mark.parametrize("weighted", [True, False])
def test_the_bits_of_rows_that_stay(device, weighted, block_bytes):
    rows = random_rows(weighted=weighted)
    whole, parts = DeviceRows.from_csr(rows, device), StreamedRows.from_csr(rows, device, block_bytes=block_bytes)
    for dtype in (torch.float32, torch.float64, torch.bfloat16):
        Q = normal(COLUMNS, 33, device=device, dtype=dtype)
        assert torch.equal(gather_sum(parts, Q), gather_sum(whole, Q))
    P = normal(rows.n_rows, 5, device=device)
    assert torch.equal(gather_sum(parts.transpose(), P), gather_sum(whole.transpose(), P))
    assert torch.equal(gather_sum(parts, Q), gather_sum(whole, Q))  # again, with what is known of the blocks
    assert (len(parts.blocks) == 1) == (block_bytes == 1 << 20)
    assert (parts.nnz, parts.n_rows, parts.n_columns) == (whole.nnz, whole.n_rows, whole.n_columns)
    assert torch.equal(parts.row_of_entry(), whole.row_of_entry().cpu())


def test_given_weights_and_targets(device):
    rows = random_rows()
    whole, parts = DeviceRows.from_csr(rows, device), StreamedRows.from_csr(rows, device, block_bytes=256)
    Q, own = normal(COLUMNS, 4, device=device), normal(rows.nnz, device="cpu", seed=2)
    out = torch.full((rows.n_rows, 4), torch.nan, device=device)
    assert gather_sum(parts, Q, out=out) is out
    assert torch.equal(out, gather_sum(whole, Q))
    assert torch.equal(gather_sum(parts, Q, weights=None), gather_sum(whole, Q, weights=None))
    expected = gather_sum(whole, Q, weights=own.to(device))
    assert torch.equal(gather_sum(parts, Q, weights=own), expected)
    assert torch.equal(gather_sum(parts.with_weights(own), Q), expected)
    with pytest.raises(ParameterError, match="one weight per entry"):
        gather_sum(parts, Q, weights=own[1:])
    with pytest.raises(ParameterError, match="index 50 is outside the 50 rows"):
        gather_sum(StreamedRows.from_csr(CSR(rows.indptr, rows.indices + 1, None, 50), device), Q)


@pytest.mark.parametrize("weighted", [True, False])
def test_weights_made_of_scales(device, weighted):
    rows = random_rows(weighted=weighted)
    a, b = normal(rows.n_rows, device=device, seed=3), normal(COLUMNS, device=device, seed=4)
    kept = scaled._kept(rows, a, b)
    by_row = StreamedRows.from_csr(rows, device, block_bytes=512).with_scales(a, b)
    for parts, whole in zip((by_row, by_row.transpose()), kept, strict=True):
        Q = normal(whole.n_columns, 7, device=device)
        assert len(parts.blocks) > 1
        assert torch.equal(gather_sum(parts, Q), gather_sum(whole, Q))


@pytest.mark.parametrize("lengths", [[], [0], [0] * 20, [900]], ids=str)
def test_unusual_rows(device, lengths):
    rows, Q = random_rows(lengths), normal(COLUMNS, 3, device=device)
    found = gather_sum(StreamedRows.from_csr(rows, device, block_bytes=64), Q)
    assert torch.equal(found, gather_sum(DeviceRows.from_csr(rows, device), Q))


def short_of_memory(monkeypatch, module, name, most):
    """Let a call fail as CUDA does if its rows hold more than `most` entries."""
    real = getattr(module, name)

    def limited(rows, *args, **options):
        if rows.nnz > most:
            raise torch.cuda.OutOfMemoryError("CUDA out of memory")
        return real(rows, *args, **options)

    monkeypatch.setattr(module, name, limited)


@pytest.mark.parametrize("weighted", [False, True])
def test_blocks_are_halved_where_memory_ends(device, monkeypatch, weighted):
    rows, Q = random_rows([20] * 40, weighted=weighted), normal(COLUMNS, 3, device=device)
    parts = StreamedRows.from_csr(rows, device)
    short_of_memory(monkeypatch, streamed, "gather_sum", 250)
    with pytest.warns(TrainingWarning, match="ran out of memory: data now pass through it in .* blocks") as said:
        found = gather_sum(parts, Q)
    assert torch.equal(found, gather_sum(DeviceRows.from_csr(rows, device), Q))
    assert [block.stop - block.start for block in parts.blocks] == [200, 200, 200, 200]
    assert len(said) == 2  # 800 → 400 → 200
    gather_sum(parts, Q)  # stays so, without a further word


def test_a_row_that_does_not_fit_is_refused(device, monkeypatch):
    parts = StreamedRows.from_csr(random_rows([300, 5]), device)
    short_of_memory(monkeypatch, streamed, "gather_sum", 250)
    with (
        pytest.warns(TrainingWarning),
        pytest.raises(ParameterError, match="no memory left for a block of 300 entries; use fewer factors"),
    ):
        gather_sum(parts, normal(COLUMNS, 3, device=device))


def test_what_fits_stays_and_what_does_not_streams(device, monkeypatch):
    rows = random_rows()
    a, b = normal(rows.n_rows, device=device), normal(COLUMNS, device=device)
    assert isinstance(scaled.scaled_rows(rows, a, b)[0], DeviceRows)
    held = torch.cuda.memory_allocated() if device == "cuda" else 0
    monkeypatch.setenv("TAYLORANK_DEVICE_MEMORY", str(held + 44 * rows.nnz + 4096))
    assert isinstance(scaled.scaled_rows(rows, a, b)[0], DeviceRows)
    for changes in ({"room": 40 * rows.nnz + 4096}, {}):
        both = scaled.scaled_rows(rows, a, b, **changes)
        assert all(isinstance(one, StreamedRows) for one in both)
        monkeypatch.setenv("TAYLORANK_DEVICE_MEMORY", "1 kB")
    monkeypatch.delenv("TAYLORANK_DEVICE_MEMORY")
    short_of_memory(monkeypatch, DeviceRows, "transpose", 10)
    with pytest.warns(TrainingWarning, match="ran out of memory"):
        assert isinstance(scaled.scaled_rows(rows, a, b)[0], StreamedRows)


def test_a_limit_that_is_no_size(monkeypatch):
    monkeypatch.setenv("TAYLORANK_DEVICE_MEMORY", "much")
    with pytest.raises(ParameterError, match="'much' is no size; write 40GB"):
        free_memory(torch.device("cpu"))
    assert read_size("2TiB") == 2 * 1024**4
