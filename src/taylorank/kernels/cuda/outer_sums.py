"""H_x = Σ_{y ∈ row x} w_xy Q_y Q_yᵀ + a_x G + λ_x I of many rows, by Triton: a program makes one tile of one row.

Only tiles on and below the diagonal are made. Products are those of float32, in small tiles three TF32 products
("tf32x3"), which keeps about 21 bits of them and is faster there. Long rows are summed in pieces, as in `gather`.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls
from __future__ import annotations

from functools import cache
from typing import Any

import torch

from taylorank.kernels.cuda.compiler import jit, next_power, tl
from taylorank.kernels.cuda.gather import sum_pieces
from taylorank.kernels.row_system import RowSystem

LONGEST = 2048  # entries of a piece
WIDEST_TILE = 128
SMALL_TILE: dict[str, Any] = {"BLOCK_E": 32, "PRECISION": "tf32x3", "num_warps": 4, "num_stages": 2}
WIDE_TILE: dict[str, Any] = {"BLOCK_E": 16, "PRECISION": "ieee", "num_warps": 8, "num_stages": 2}


@jit
def _outer_sums(
    order,
    starts,
    stops,
    indices,
    weights,
    factors,
    gram,
    background,
    ridge,
    tiles,
    out,
    K,
    first_row,
    weight,
    PIECES: tl.constexpr,
    WEIGHTED: tl.constexpr,
    ONE_TILE: tl.constexpr,
    BLOCK_E: tl.constexpr,
    BLOCK: tl.constexpr,
    PRECISION: tl.constexpr,
):
    """out_j = one tile of H_x for row x = order_j, or of the sum over its piece j alone."""
    piece = tl.program_id(0)
    row = tl.load(order + piece)
    place = row
    target = row - first_row
    if PIECES:
        place = piece.to(tl.int64)
        target = place
    start = tl.load(starts + place)
    length = (tl.load(stops + place) - start).to(tl.int32)
    entry = tl.arange(0, BLOCK_E)
    down = tl.load(tiles + 2 * tl.program_id(1)) * BLOCK + tl.arange(0, BLOCK)
    across = tl.load(tiles + 2 * tl.program_id(1) + 1) * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros([BLOCK, BLOCK], dtype=tl.float32)
    index = tl.load(indices + start + entry, mask=entry < length, other=0).to(tl.int64)
    for done in range(0, length, BLOCK_E):
        here = done + entry < length
        base = factors + index[:, None] * K
        right = tl.load(base + across[None, :], mask=here[:, None] & (across < K)[None, :], other=0.0)
        if ONE_TILE:  # noqa: SIM108, Triton would load both
            left = right
        else:
            left = tl.load(base + down[None, :], mask=here[:, None] & (down < K)[None, :], other=0.0)
        after = done + BLOCK_E + entry
        index = tl.load(indices + start + after, mask=after < length, other=0).to(tl.int64)
        if WEIGHTED:
            left = left * tl.load(weights + start + done + entry, mask=here, other=0.0)[:, None]
        total = tl.dot(tl.trans(left), right, total, input_precision=PRECISION)
    total *= weight
    inside = (down < K)[:, None] & (across < K)[None, :]
    cell = down[:, None].to(tl.int64) * K + across[None, :]
    if not PIECES:
        total += tl.load(background + row) * tl.load(gram + cell, mask=inside, other=0.0)
        total += tl.where(down[:, None] == across[None, :], tl.load(ridge + row), 0.0)
    tl.store(out + target * K * K + cell, total, mask=inside)


def row_matrices(system: RowSystem, factors: torch.Tensor, first: int, last: int) -> torch.Tensor:
    """Return H_x of rows first, …, last − 1 of a checked system, (last − first, K, K), float32.

    Above the diagonal only what lies in a tile on it is filled.
    """
    rows: Any = system.rows
    K = factors.shape[1]
    out = torch.empty(last - first, K, K, device=factors.device)
    plan = rows.schedule(LONGEST, first, last)
    if len(plan.owners):
        parts = torch.zeros(len(plan.owners), K, K, device=factors.device)  # tiles above the diagonal stay so
        _launch(system, factors, plan.owners, plan.starts, plan.stops, out=parts, first=first, pieces=True)
        sum_pieces(parts, plan.long_rows, plan.firsts, out, first_row=first)
        _add_dense_part(system, out, plan.long_rows, first)
    if len(plan.short_rows):
        _launch(system, factors, plan.short_rows, rows.indptr, rows.indptr[1:], out=out, first=first, pieces=False)
    return out


def _launch(
    system: Any,
    factors: torch.Tensor,
    order: torch.Tensor,
    starts: torch.Tensor,
    stops: torch.Tensor,
    *,
    out: torch.Tensor,
    first: int,
    pieces: bool,
) -> None:
    K = factors.shape[1]
    shared = isinstance(system.weights, float)
    block = min(WIDEST_TILE, max(16, next_power(K)))
    tiles = lower_tiles(-(-K // block), str(factors.device))
    _outer_sums[(len(order), len(tiles))](
        order,
        starts,
        stops,
        system.rows.indices,
        factors if shared else system.weights,
        factors,
        system.gram,
        system.background,
        system.regularization,
        tiles,
        out,
        K,
        first,
        system.weights if shared else 1.0,
        PIECES=pieces,
        WEIGHTED=not shared,
        ONE_TILE=len(tiles) == 1,
        BLOCK=block,
        **(WIDE_TILE if block == WIDEST_TILE else SMALL_TILE),
    )


@cache
def lower_tiles(count: int, device: str) -> torch.Tensor:
    """Return (row, column) of the tiles on and below the diagonal of `count` × `count` tiles.

    >>> lower_tiles(2, "cpu").tolist()
    [[0, 0], [1, 0], [1, 1]]
    """
    return torch.tensor([(i, j) for i in range(count) for j in range(i + 1)], dtype=torch.int32, device=device)


def _add_dense_part(system: Any, out: torch.Tensor, long_rows: torch.Tensor, first: int) -> None:
    """Add a_x G + λ_x I to the matrices of some rows, a bounded number at a time."""
    together = max(1, (1 << 26) // out[0].numel())
    eye = torch.eye(out.shape[1], device=out.device)
    for chosen in long_rows.split(together):
        a, ridge = system.background[chosen, None, None], system.regularization[chosen, None, None]
        out[chosen - first] += a * system.gram + ridge * eye
