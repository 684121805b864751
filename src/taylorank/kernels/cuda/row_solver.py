"""Row-solve for tensors: the K×K system of every row, by batches of Cholesky factors or by conjugate gradients."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import torch

from taylorank.errors import ParameterError
from taylorank.kernels.cuda import torch_reference
from taylorank.kernels.cuda.batched_cholesky import factor_solve
from taylorank.kernels.cuda.compiler import runs_triton
from taylorank.kernels.cuda.conjugate import by_gradients, right_sides
from taylorank.kernels.cuda.device_rows import as_tensor
from taylorank.kernels.cuda.gather import checked_factors, checked_weights
from taylorank.kernels.cuda.memory import cells_at_once
from taylorank.kernels.cuda.outer_sums import row_matrices
from taylorank.kernels.row_system import RowSystem, Tilt

METHODS = ("auto", "cholesky", "cg")
EXACT_UP_TO = 128  # factors, for `auto`
CPU_CELLS = 1 << 22
BATCH_CELLS = 1 << 30  # of the matrices held at a time, if they fit into a quarter of the free memory


def row_solve(
    system: RowSystem,
    factors: torch.Tensor,
    *,
    method: str = "auto",
    start: torch.Tensor | None = None,
    steps: int = 3,
) -> torch.Tensor:
    """Return P with H_x P_x = b_x for every row x of `system`, whose rows are `DeviceRows`, in full or approximately.

    Shapes: `factors` is Q (system.rows.n_columns, K), float32 or float64; the result (n_rows, K) has its type.
    `cholesky` is exact; a row whose pivots vanish in float32 is solved again in float64, and if that fails too, an
    error names it. `cg` makes `steps` conjugate-gradient steps from `start` (default 0). `auto` is `cholesky` up to
    128 factors or without `start`, else `cg`.

    >>> from taylorank.kernels.cuda.device_rows import DeviceRows
    >>> Q = torch.tensor([[1.0, 0.0], [0.0, 2.0]])
    >>> rows = DeviceRows(torch.tensor([0, 1, 1]), torch.tensor([1], dtype=torch.int32), None, 2)
    >>> row_solve(RowSystem(rows, Q.T @ Q, background=0.5, regularization=1.0), Q)  # 2 / (0.5 · 4 + 4 + 1)
    tensor([[0.0000, 0.2857],
            [0.0000, 0.0000]])
    """
    if method not in METHODS:
        raise ParameterError(f"method is {method!r}", f"choose from {', '.join(METHODS)} for tensors")
    if isinstance(steps, bool) or not isinstance(steps, int) or steps < 1:
        raise ParameterError(f"steps is {steps!r}", "give a whole number of at least 1")
    rows: Any = system.rows
    rows.check()
    Q = checked_factors(factors, rows.n_columns, rows.device)
    Q = Q.float() if Q.dtype == torch.bfloat16 else Q
    shape = (rows.n_rows, Q.shape[1])
    system = checked_system(system, Q)
    first = None if start is None else _checked(start, shape, "start", Q)
    _check_finite(Q, "factors")
    if 0 in shape:
        return torch.empty(shape, dtype=Q.dtype, device=Q.device)
    if method == "auto":
        method = "cholesky" if first is None or shape[1] <= EXACT_UP_TO else "cg"
    if method == "cg":
        solution, good = by_gradients(system, Q, first, steps)
    elif Q.dtype == torch.float32 and runs_triton(Q):
        solution, good = _by_cholesky(system, Q)
    else:
        return torch_reference.exact_rows(system, Q, torch.arange(shape[0], device=Q.device)).to(Q.dtype)
    failed = torch.nonzero(~good)[:, 0]
    if len(failed):
        solution[failed] = torch_reference.exact_rows(system, Q, failed).to(Q.dtype)
    return solution


def _by_cholesky(system: RowSystem, factors: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the solutions, and for which rows they are valid."""
    right = right_sides(system, factors)
    good = torch.empty(len(right), dtype=torch.bool, device=right.device)
    together = max(1, cells_at_once(factors.device, BATCH_CELLS, on_cpu=CPU_CELLS) // factors.shape[1] ** 2)
    for first in range(0, len(right), together):
        last = min(first + together, len(right))
        matrices = row_matrices(system, factors, first, last)
        if system.tilt is not None:
            matrices -= torch_reference.tilt_part(system, slice(first, last), factors.dtype)
        good[first:last] = factor_solve(matrices, right[first:last])
    return right, good


def checked_system(system: RowSystem, factors: torch.Tensor) -> RowSystem:
    """Return the system with tensors of the factors' type and device, finite and of the right shape.

    Shared weights and targets become a float, values per row one tensor.
    """
    given: Any = system
    rows, width = given.rows, factors.shape[1]
    if (given.offsets is None) != (given.direction is None):
        raise ParameterError("offsets and direction go together", "pass both or neither")
    gram = _checked(given.gram, (width, width), "gram", factors)
    if gram.numel() and bool((gram - gram.mT).abs().max() > 1e-3 * gram.abs().max()):
        raise ParameterError("gram is not symmetric", "pass factors.T @ factors, weighted if need be")
    tilt = given.tilt
    checked: RowSystem = replace(
        given,
        gram=gram,
        background=_per_row(given.background, rows.n_rows, "background", factors),
        regularization=_per_row(given.regularization, rows.n_rows, "regularization", factors),
        weights=_per_entry(given.weights, rows, "weights", factors),
        targets=_per_entry(given.targets, rows, "targets", factors),
        offsets=None if given.offsets is None else _per_row(given.offsets, rows.n_rows, "offsets", factors),
        direction=None if given.direction is None else _checked(given.direction, (width,), "direction", factors),
        tilt=None
        if tilt is None
        else Tilt(
            _checked(tilt.rows, (rows.n_rows, width), "tilt rows", factors),  # type: ignore[arg-type]
            _checked(tilt.mean, (width,), "tilt mean", factors),  # type: ignore[arg-type]
            _per_row(tilt.scales, rows.n_rows, "tilt scales", factors),
        ),
    )
    return checked


def _checked(values: Any, shape: tuple[int, ...], name: str, like: torch.Tensor) -> torch.Tensor:
    tensor = as_tensor(values).to(device=like.device, dtype=like.dtype).contiguous()
    if tensor.shape != shape:
        raise ParameterError(f"{name} have shape {tuple(tensor.shape)}", f"pass a tensor of shape {shape}")
    _check_finite(tensor, name)
    return tensor


def _check_finite(tensor: torch.Tensor, name: str) -> None:
    if not bool(torch.isfinite(tensor).all()):
        raise ParameterError(f"{name} hold a value that is infinite or not a number", "look where it comes from")


def _per_row(values: Any, n_rows: int, name: str, like: torch.Tensor) -> torch.Tensor:
    tensor = as_tensor(values)
    return _checked(tensor.expand(n_rows) if tensor.ndim == 0 else tensor, (n_rows,), name, like)


def _per_entry(values: Any, rows: Any, name: str, like: torch.Tensor) -> torch.Tensor | float:
    tensor = as_tensor(values)
    if tensor.ndim == 0:
        _check_finite(tensor, name)
        return float(tensor)
    checked_weights(tensor.to(like.device), rows)
    return _checked(tensor, (rows.nnz,), name, like)
