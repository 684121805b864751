"""Many symmetric positive definite systems at once: a program factors one matrix in place, tile by tile, and solves.

With tiles of NB × NB, for each column of tiles J: D = A_JJ − Σ_k L_Jk L_Jkᵀ is factored as L Lᵀ while W = L⁻¹ is made
from the identity, then L_BJ = (A_BJ − Σ_k L_Bk L_Jkᵀ) Wᵀ below it, and y_J = W (b_J − Σ_k L_Jk y_k). Tile (J, J) keeps
W, and x_J = Wᵀ (y_J − Σ_B L_BJᵀ x_B) from the last J to the first. What tiles read of earlier ones lies in memory;
a barrier after each column of tiles lets all threads of the program see it.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls
from __future__ import annotations

import torch

from taylorank.kernels.cuda.compiler import jit, runs_triton, tl

SMALLEST_PIVOT = 64 * 1.2e-7  # relative to the diagonal: below, it is rounding error of float32
PRECISION = "tf32x3"


@jit
def _factor_solve(
    matrices,
    right,
    good,
    K,
    tiles,
    floor,
    NB: tl.constexpr,
    RB: tl.constexpr,
    KB: tl.constexpr,
    PRECISION: tl.constexpr,
):
    """Matrix x of (n, K, K) is overwritten by its factors, row x of `right` by the solution, good_x by 1 or 0.

    Below the diagonal, RB rows are made at once, from KB earlier columns at a time.
    """
    number = tl.program_id(0).to(tl.int64)
    A = matrices + number * K * K
    b = right + number * K
    i = tl.arange(0, NB)
    rows = tl.arange(0, RB)
    columns = tl.arange(0, KB)
    same = i[:, None] == i[None, :]
    sound = 1
    for J in range(0, tiles):
        at = J * NB + i
        inside = at < K
        tile = A + at[:, None] * K + at[None, :]
        D = tl.load(tile, mask=inside[:, None] & inside[None, :], other=0.0)
        D = tl.where(same & (at >= K)[:, None], 1.0, D)  # unit pivots beyond the width
        floors = floor * tl.sum(tl.where(same, D, 0.0), axis=0)
        rest = tl.load(b + at, mask=inside, other=0.0)
        for first in range(0, J * NB, KB):
            left = first + columns
            done = tl.full([KB], True, tl.int1)
            if KB > NB:  # else columns end where tiles do, and a mask would make the loads narrower
                done = left < J * NB
            L = tl.load(A + at[:, None] * K + left[None, :], mask=inside[:, None] & done[None, :], other=0.0)
            D -= tl.dot(L, tl.trans(L), input_precision=PRECISION)
            rest -= tl.sum(L * tl.load(b + left, mask=done, other=0.0)[None, :], axis=1)
        W = tl.where(same, 1.0, 0.0)
        for j in range(0, NB):
            line = tl.sum(tl.where(i[:, None] == j, D, 0.0), axis=0)
            column = tl.sum(tl.where(i[None, :] == j, D, 0.0), axis=1)
            pivot = tl.sum(tl.where(i == j, line, 0.0), axis=0)
            above = pivot > tl.sum(tl.where(i == j, floors, 0.0), axis=0)
            sound = sound & above.to(tl.int32)
            scale = 1.0 / tl.sqrt(tl.where(above, pivot, 1.0))
            down = tl.where(i > j, column * scale, 0.0)
            across = tl.where(i > j, line * scale, 0.0)
            D -= down[:, None] * across[None, :]
            top = scale * tl.sum(tl.where(i[:, None] == j, W, 0.0), axis=0)
            W = tl.where(i[:, None] == j, top[None, :], W - down[:, None] * top[None, :])
        tl.store(b + at, tl.sum(W * rest[None, :], axis=1), mask=inside)
        tl.store(tile, W, mask=inside[:, None] & inside[None, :])
        for low in range((J + 1) * NB, K, RB):
            below = low + rows
            panel = A + below[:, None] * K + at[None, :]
            there = (below < K)[:, None]
            C = tl.load(panel, mask=there & inside[None, :], other=0.0)
            for first in range(0, J * NB, KB):
                left = first + columns
                done = tl.full([KB], True, tl.int1)
                if KB > NB:
                    done = left < J * NB
                upper = tl.load(A + at[:, None] * K + left[None, :], mask=inside[:, None] & done[None, :], other=0.0)
                lower = tl.load(A + below[:, None] * K + left[None, :], mask=there & done[None, :], other=0.0)
                C -= tl.dot(lower, tl.trans(upper), input_precision=PRECISION)
            tl.store(panel, tl.dot(C, tl.trans(W), input_precision=PRECISION), mask=there & inside[None, :])
        tl.debug_barrier()
    for step in range(0, tiles):
        J = tiles - 1 - step
        at = J * NB + i
        inside = at < K
        y = tl.load(b + at, mask=inside, other=0.0)
        for low in range((J + 1) * NB, K, RB):
            below = low + rows
            there = below < K
            L = tl.load(A + below[:, None] * K + at[None, :], mask=there[:, None] & inside[None, :], other=0.0)
            y -= tl.sum(L * tl.load(b + below, mask=there, other=0.0)[:, None], axis=0)
        W = tl.load(A + at[:, None] * K + at[None, :], mask=inside[:, None] & inside[None, :], other=0.0)
        tl.debug_barrier()
        tl.store(b + at, tl.sum(W * y[:, None], axis=0), mask=inside)
        tl.debug_barrier()
    tl.store(good + number, sound)


def factor_solve(matrices: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
    """Solve H_x p_x = b_x in place of `right` (n, K), from the lower triangles of `matrices` (n, K, K), float32.

    Tiles on the diagonal must be whole. `matrices` are overwritten. Returns for which rows no pivot vanished and the
    solution is finite.
    """
    if not runs_triton(right):
        return _by_torch(matrices, right)
    count, K = right.shape
    good = torch.empty(count, dtype=torch.int32, device=right.device)
    if count:
        size, rows, columns, warps = launch_options(K)
        _factor_solve[(count,)](
            matrices,
            right,
            good,
            K,
            -(-K // size),
            SMALLEST_PIVOT,
            NB=size,
            RB=rows,
            KB=columns,
            PRECISION=PRECISION,
            num_warps=warps,
            num_stages=1,
        )
    return good.bool() & torch.isfinite(right).all(dim=1)


def launch_options(K: int) -> tuple[int, int, int, int]:
    """Return NB, RB, KB and the warps of a program: small tiles keep more matrices in flight."""
    if K <= 128:
        return (16, 32, 16, 1)
    return (32, 32, 32, 1) if K <= 256 else (32, 64, 32, 4)


def _by_torch(matrices: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
    lower, info = torch.linalg.cholesky_ex(matrices)
    pivots, diagonals = lower.diagonal(dim1=1, dim2=2) ** 2, matrices.diagonal(dim1=1, dim2=2)
    good = (info == 0) & (pivots > SMALLEST_PIVOT * diagonals).all(dim=1)
    right.copy_(torch.cholesky_solve(right[..., None], lower)[..., 0])
    valid: torch.Tensor = good & torch.isfinite(right).all(dim=1)
    return valid
