"""Gather-sum on a CUDA device: one program for each short row or piece of a long one, no atomics.

A program keeps BLOCK_E × BLOCK_K sums in registers, adds a gathered block of that shape in each step, and adds up its
sums over the entries once, at the end. The sums of the pieces of long rows are added by a second kernel.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls
from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import torch

from taylorank.errors import ParameterError
from taylorank.kernels.cuda import torch_reference
from taylorank.kernels.cuda.compiler import jit, next_power, runs_triton, tl
from taylorank.kernels.cuda.device_rows import DeviceRows
from taylorank.kernels.cuda.pair_scores import nonzero_scores

if TYPE_CHECKING:
    from taylorank.kernels.cuda.streamed import StreamedRows

LONGEST = 512  # entries of a piece
TILES = (256, 128, 64)  # columns of a program
WASTE = 1.15  # columns that a program may hold for each that there is
WIDEST_PRODUCT = 512  # columns that a program of `entry_products` holds at once
SUMS = {256: 1024, 128: 1024, 64: 512}  # of a program, by its columns: as measured


@jit
def _sum_entries(
    order,
    starts,
    stops,
    indices,
    weights,
    factors,
    vectors,
    out,
    K,
    PIECES: tl.constexpr,
    WEIGHTED: tl.constexpr,
    PRODUCT: tl.constexpr,
    WIDE: tl.constexpr,
    BLOCK_E: tl.constexpr,
    BLOCK_K: tl.constexpr,
):
    """out_j = Σ w_xy [p_x · q_y] q_y over the entries of row order_j or of piece j; WIDE: in float64."""
    piece = tl.program_id(0)
    row = tl.load(order + piece).to(tl.int64)
    place = row
    if PIECES:
        place = piece.to(tl.int64)
    start = tl.load(starts + place)
    length = (tl.load(stops + place) - start).to(tl.int32)
    entry = tl.arange(0, BLOCK_E)
    column = tl.program_id(1) * BLOCK_K + tl.arange(0, BLOCK_K)
    inside = column < K
    kind = tl.float64 if WIDE else tl.float32
    total = tl.zeros([BLOCK_E, BLOCK_K], dtype=kind)
    if PRODUCT:
        vector = tl.load(vectors + row * K + column, mask=inside, other=0.0).to(kind)
    index = tl.load(indices + start + entry, mask=entry < length, other=0).to(tl.int64)
    for done in range(0, length, BLOCK_E):
        here = done + entry < length
        block = tl.load(
            factors + index[:, None] * K + column[None, :], mask=here[:, None] & inside[None, :], other=0.0
        ).to(kind)
        after = done + BLOCK_E + entry
        index = tl.load(indices + start + after, mask=after < length, other=0).to(tl.int64)
        if PRODUCT:
            scale = tl.sum(block * vector[None, :], axis=1)
            if WEIGHTED:
                scale *= tl.load(weights + start + done + entry, mask=here, other=0.0).to(kind)
            block *= scale[:, None]
        elif WEIGHTED:
            block *= tl.load(weights + start + done + entry, mask=here, other=0.0).to(kind)[:, None]
        total += block
    tl.store(out + place * K + column, tl.sum(total, axis=0), mask=inside)


@jit
def _sum_pieces(
    pieces,
    rows,
    firsts,
    out,
    width,
    first_row,
    WIDE: tl.constexpr,
    BLOCK_P: tl.constexpr,
    BLOCK_W: tl.constexpr,
):
    """out[row_i − first_row] = Σ of pieces firsts_i, …, firsts_{i+1} − 1, each `width` numbers."""
    i = tl.program_id(0)
    first = tl.load(firsts + i)
    count = (tl.load(firsts + i + 1) - first).to(tl.int32)
    target = tl.load(rows + i) - first_row
    column = tl.program_id(1) * BLOCK_W + tl.arange(0, BLOCK_W)
    piece = tl.arange(0, BLOCK_P)
    inside = column < width
    kind = tl.float64 if WIDE else tl.float32
    total = tl.zeros([BLOCK_P, BLOCK_W], dtype=kind)
    for done in range(0, count, BLOCK_P):
        here = done + piece < count
        place = (first + done + piece)[:, None] * width + column[None, :]
        total += tl.load(pieces + place, mask=here[:, None] & inside[None, :], other=0.0)
    tl.store(out + target * width + column, tl.sum(total, axis=0), mask=inside)


def gather_sum(
    rows: DeviceRows | StreamedRows,
    factors: torch.Tensor,
    *,
    weights: torch.Tensor | Literal["stored"] | None = "stored",
    out: torch.Tensor | None = None,
) -> torch.Tensor:
    """Return P with P[x, :] = Σ_{y ∈ row x} w_xy Q[y, :].

    Shapes: `factors` is Q (rows.n_columns, K), float32, bfloat16 or float64; the result (rows.n_rows, K) is float64 for
    float64, else float32, and so are the sums. `weights` are those stored in `rows` unless given: one number per entry,
    or None for all 1. `out`, if given, receives the result in its own type. The same call gives the same bits, and so
    do the same rows where they stream through the device (`StreamedRows`).

    >>> rows = DeviceRows(torch.tensor([0, 2, 3]), torch.tensor([0, 2, 1], dtype=torch.int32), None, 3)
    >>> gather_sum(rows, torch.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]))
    tensor([[6., 8.],
            [3., 4.]])
    """
    if not isinstance(rows, DeviceRows):
        return rows.gather_sum(factors, weights=weights, out=out)
    values = checked_weights(rows.weights if isinstance(weights, str) else weights, rows)
    Q = checked_factors(factors, rows.n_columns, rows.device)
    target = checked_out(out, (rows.n_rows, Q.shape[1]), Q)
    rows.check()
    if not runs_triton(Q):
        return target.copy_(torch_reference.gather_sum(rows, Q, weights=values))
    return _launch(rows, Q, values, None, target)


def entry_products(
    rows: DeviceRows, factors: torch.Tensor, vectors: torch.Tensor, *, weights: torch.Tensor | None
) -> torch.Tensor:
    """Return Σ_{y ∈ row x} w_xy (p_x · Q_y) Q_y for every row x: H_x p_x without H_x; `vectors` is (n_rows, K).

    >>> rows = DeviceRows(torch.tensor([0, 1]), torch.tensor([0], dtype=torch.int32), None, 1)
    >>> entry_products(rows, torch.tensor([[1.0, 2.0]]), torch.tensor([[3.0, 1.0]]), weights=None)
    tensor([[ 5., 10.]])
    """
    Q, P = checked_factors(factors, rows.n_columns, rows.device), vectors.contiguous()
    rows.check()
    if not runs_triton(Q) or Q.shape[1] > WIDEST_PRODUCT:
        scores = nonzero_scores(rows, P, items=Q)
        return gather_sum(rows, Q, weights=scores if weights is None else scores * weights)
    return _launch(rows, Q, weights, P, checked_out(None, (rows.n_rows, Q.shape[1]), Q))


def _launch(
    rows: DeviceRows,
    factors: torch.Tensor,
    weights: torch.Tensor | None,
    vectors: torch.Tensor | None,
    out: torch.Tensor,
) -> torch.Tensor:
    width = factors.shape[1]
    if width == 0 or rows.n_rows == 0:
        return out
    plan = rows.schedule(LONGEST)
    wide = factors.dtype == torch.float64
    tile = max(16, next_power(width)) if vectors is not None else column_tile(width)
    options = launch_options(tile)
    tiles = -(-width // tile)

    def sum_entries(
        order: torch.Tensor, starts: torch.Tensor, stops: torch.Tensor, target: torch.Tensor, pieces: bool
    ) -> None:
        if len(order):
            _sum_entries[(len(order), tiles)](
                order,
                starts,
                stops,
                rows.indices,
                factors if weights is None else weights,
                factors,
                factors if vectors is None else vectors,
                target,
                width,
                PIECES=pieces,
                WEIGHTED=weights is not None,
                PRODUCT=vectors is not None,
                WIDE=wide,
                BLOCK_K=tile,
                **options,
            )

    if len(plan.owners):
        parts = torch.empty(len(plan.owners), width, dtype=torch.float64 if wide else torch.float32, device=out.device)
        sum_entries(plan.owners, plan.starts, plan.stops, parts, True)
        sum_pieces(parts, plan.long_rows, plan.firsts, out)
    sum_entries(plan.short_rows, rows.indptr, rows.indptr[1:], out, False)
    return out


def column_tile(width: int) -> int:
    """Return how many columns a program takes: many, unless too many of them were beyond the width.

    >>> [column_tile(width) for width in (16, 64, 100, 160, 192, 640, 1280)]
    [16, 64, 64, 64, 64, 128, 256]
    """
    if width <= TILES[-1]:
        return max(16, next_power(width))
    return next((tile for tile in TILES if -(-width // tile) * tile <= WASTE * width), TILES[-1])


def launch_options(tile: int) -> dict[str, int]:
    """Return how many entries a program adds at once and its warps, for `tile` columns."""
    return {"BLOCK_E": max(4, SUMS.get(tile, 1024) // tile), "num_warps": 2 if tile <= 256 else 4}


def sum_pieces(
    parts: torch.Tensor, long_rows: torch.Tensor, firsts: torch.Tensor, out: torch.Tensor, *, first_row: int = 0
) -> None:
    """Add up the sums of pieces, (pieces, …), into out[long_rows − first_row]."""
    width = parts[0].numel()
    block = min(1024, max(16, next_power(width)))
    _sum_pieces[(len(long_rows), -(-width // block))](
        parts,
        long_rows,
        firsts,
        out,
        width,
        first_row,
        WIDE=parts.dtype == torch.float64,
        BLOCK_P=max(1, 4096 // block),
        BLOCK_W=block,
        num_warps=4,
    )


def checked_factors(factors: torch.Tensor, count: int, device: torch.device, *, name: str = "factors") -> torch.Tensor:
    """Return `factors` contiguous; raise unless they are (count, K) floats on the device of the rows."""
    if factors.dtype not in (torch.float32, torch.bfloat16, torch.float64):
        raise ParameterError(f"{name} are {factors.dtype}", "convert them with .float()")
    if factors.ndim != 2 or len(factors) != count:
        raise ParameterError(f"{name} have shape {tuple(factors.shape)}", f"pass a tensor of shape ({count}, K)")
    if factors.device != device:
        raise ParameterError(f"{name} are on {factors.device} but the rows on {device}", "move them to one device")
    return factors.contiguous()


def checked_weights(weights: torch.Tensor | None, rows: DeviceRows, *, anywhere: bool = False) -> torch.Tensor | None:
    """Return `weights` contiguous; raise unless there is one per entry, on the device of the rows or `anywhere`."""
    if weights is None:
        return None
    if weights.shape != (rows.nnz,):
        raise ParameterError(
            f"weights have shape {tuple(weights.shape)} but there are {rows.nnz} entries", "pass one weight per entry"
        )
    if weights.device != rows.device and not anywhere:
        raise ParameterError(
            f"weights are on {weights.device} but the rows on {rows.device}", "move them to one device"
        )
    return weights.contiguous() if weights.is_floating_point() else weights.float()


def checked_out(out: torch.Tensor | None, shape: tuple[int, int], factors: torch.Tensor) -> torch.Tensor:
    """Return `out`, or a new tensor if it is None; raise unless it can take the result."""
    if out is None:
        wide = factors.dtype == torch.float64
        return torch.empty(shape, dtype=torch.float64 if wide else torch.float32, device=factors.device)
    if out.shape != shape or not out.is_contiguous() or out.device != factors.device:
        raise ParameterError(
            f"out has shape {tuple(out.shape)} on {out.device} but the result is {shape} on {factors.device}",
            "pass a contiguous tensor of that shape there",
        )
    if out.untyped_storage().data_ptr() == factors.untyped_storage().data_ptr() and out.numel():
        raise ParameterError("out overlaps the factors", "pass another tensor")
    return out
