"""The tensor kernels in plain torch: the oracle of the tests, and what runs on tensors of the CPU."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from taylorank.errors import ParameterError
from taylorank.kernels.row_reference import SMALLEST_PIVOT, not_positive_definite

if TYPE_CHECKING:
    from taylorank.kernels.cuda.device_rows import DeviceRows

VALUES_AT_ONCE = 1 << 24
LOW_BITS = (1 << 31) - 1
NAN_REMEDY = "check the factors for values that are infinite or not a number"


def gather_sum(rows: DeviceRows, factors: torch.Tensor, *, weights: torch.Tensor | None) -> torch.Tensor:
    """Return P with P[x, :] = Σ_{y ∈ row x} w_xy Q[y, :], some entries at a time."""
    kind = torch.float64 if factors.dtype == torch.float64 else torch.float32
    total = torch.zeros(rows.n_rows, factors.shape[1], dtype=kind, device=factors.device)
    owners, together = rows.row_of_entry(), max(1, VALUES_AT_ONCE // max(1, factors.shape[1]))
    for first in range(0, rows.nnz, together):
        part = slice(first, first + together)
        gathered = factors[rows.indices[part]].to(kind)
        if weights is not None:
            gathered *= weights[part, None].to(kind)
        total.index_add_(0, owners[part], gathered)
    return total


def nonzero_scores(rows: DeviceRows, users: torch.Tensor, items: torch.Tensor) -> torch.Tensor:
    """Return P_x · Q_y for every entry (x, y), some entries at a time."""
    kind = torch.float64 if items.dtype == torch.float64 else torch.float32
    scores = torch.empty(rows.nnz, dtype=kind, device=items.device)
    owners, together = rows.row_of_entry(), max(1, VALUES_AT_ONCE // max(1, items.shape[1]))
    for first in range(0, rows.nnz, together):
        part = slice(first, first + together)
        scores[part] = (users[owners[part]].to(kind) * items[rows.indices[part]].to(kind)).sum(dim=1)
    return scores


def falling_keys(scores: torch.Tensor, columns: torch.Tensor) -> torch.Tensor:
    """Map (score, column) to distinct int64 that fall in ranking order: of equal scores the lower column is larger."""
    bits = (scores + 0.0).view(torch.int32)  # −0 becomes +0
    rising = bits ^ ((bits >> 31) & LOW_BITS)  # order of the floats as signed integers
    return (rising.to(torch.int64) << 32) + (LOW_BITS - columns)


def from_keys(keys: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Return columns and scores of keys; -1 and NaN where the score is −inf."""
    columns = LOW_BITS - (keys & ((1 << 32) - 1))
    rising = (keys >> 32).to(torch.int32)
    scores = (rising ^ ((rising >> 31) & LOW_BITS)).view(torch.float32)
    missing = scores == -torch.inf
    return torch.where(missing, -1, columns), torch.where(missing, torch.nan, scores)


def check_numbers(scores: torch.Tensor, maxima: torch.Tensor, first_row: int) -> None:
    """Raise if a score is not a number; `maxima` of scores are not numbers where one of theirs is not."""
    if bool(torch.isnan(maxima).any()):
        row, item = torch.nonzero(torch.isnan(scores))[0].tolist()
        raise ParameterError(f"the score of row {first_row + row} and item {item} is not a number", NAN_REMEDY)


def top_k_scores(scores: torch.Tensor, k: int, *, first_row: int = 0) -> tuple[torch.Tensor, torch.Tensor]:
    """Return columns and values of the k largest scores of each row, by falling score, then by rising column."""
    check_numbers(scores, scores, first_row)
    keys = falling_keys(scores, torch.arange(scores.shape[1], device=scores.device))
    ids, best = from_keys(torch.topk(keys, min(k, scores.shape[1]), dim=1).values)
    return pad_lists(ids, best, k)


def pad_lists(ids: torch.Tensor, scores: torch.Tensor, k: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Fill lists up to length k with -1 and NaN."""
    more = (0, k - ids.shape[1])
    if more[1] <= 0:
        return ids, scores
    pad = torch.nn.functional.pad
    return pad(ids, more, value=-1), pad(scores, more, value=torch.nan)


def exact_rows(system: Any, factors: torch.Tensor, chosen: torch.Tensor) -> torch.Tensor:
    """Solve the chosen rows of a checked system in float64; raise for one that is not positive definite."""
    wide = factors.double()
    right = right_sides(system, wide, chosen)
    solution = torch.empty_like(right)
    for part in _parts(system, chosen, factors.shape[1]):
        matrices = row_matrices(system, wide, chosen[part])
        nothing = ~(matrices.flatten(1).any(dim=1) | right[part].any(dim=1))
        matrices[nothing] = torch.eye(factors.shape[1], dtype=torch.float64, device=factors.device)
        lower, info = torch.linalg.cholesky_ex(matrices)
        pivots, diagonals = lower.diagonal(dim1=1, dim2=2) ** 2, matrices.diagonal(dim1=1, dim2=2)
        good = (info == 0) & (pivots > SMALLEST_PIVOT * diagonals).all(dim=1)
        if not bool(good.all()):
            raise not_positive_definite(int(chosen[part][~good].min()))
        solution[part] = torch.cholesky_solve(right[part][..., None], lower)[..., 0]
    return solution


def _parts(system: Any, chosen: torch.Tensor, width: int) -> list[torch.Tensor]:
    """Split positions of `chosen` into groups of like length whose gathered factors and matrices are bounded."""
    lengths, order = torch.sort(system.rows.row_lengths[chosen], stable=True)
    parts, first, cells = [], 0, [(max(n, width)) * width for n in lengths.tolist()]
    for place, cell in enumerate(cells):
        if (place + 1 - first) * cell > VALUES_AT_ONCE and place > first:
            parts.append(order[first:place])
            first = place
    return [*parts, order[first:]] if len(chosen) else []


def padded_entries(rows: Any, chosen: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Return positions of the entries of the chosen rows, (n, longest), and which of them are theirs."""
    starts, stops = rows.indptr[chosen], rows.indptr[chosen + 1]
    longest = int((stops - starts).max()) if len(chosen) else 0
    places = starts[:, None] + torch.arange(longest, device=starts.device)
    there = places < stops[:, None]
    return torch.where(there, places, 0), there


def row_matrices(system: Any, factors: torch.Tensor, chosen: torch.Tensor) -> torch.Tensor:
    """Return H_x of the chosen rows of a checked system, (len(chosen), K, K), in the type of the factors."""
    kind, K = factors.dtype, factors.shape[1]
    a, ridge = (part[chosen, None, None].to(kind) for part in (system.background, system.regularization))
    eye = torch.eye(K, dtype=kind, device=factors.device)
    matrices: torch.Tensor = a * system.gram.to(kind) + ridge * eye
    if system.rows.nnz:
        places, there = padded_entries(system.rows, chosen)
        gathered = factors[system.rows.indices[places]] * there[..., None]  # (n, longest, K)
        weights = system.weights if isinstance(system.weights, float) else system.weights[places, None].to(kind)
        matrices += (gathered * weights).mT @ gathered
    return matrices if system.tilt is None else matrices - tilt_part(system, chosen, kind)


def tilt_part(system: Any, chosen: Any, kind: torch.dtype) -> torch.Tensor:
    """Return f_x mᵀ + m f_xᵀ + s_x m mᵀ of the chosen rows."""
    tilt = system.tilt
    f, m, s = tilt.rows[chosen].to(kind), tilt.mean.to(kind), tilt.scales[chosen].to(kind)
    part: torch.Tensor = (f + s[:, None] * m)[:, :, None] * m + m[:, None] * f[:, None, :]
    return part


def right_sides(system: Any, factors: torch.Tensor, chosen: torch.Tensor) -> torch.Tensor:
    """Return b_x of the chosen rows."""
    kind = factors.dtype
    right = torch.zeros(len(chosen), factors.shape[1], dtype=kind, device=factors.device)
    for part in _parts(system, chosen, factors.shape[1]) if system.rows.nnz else []:
        places, there = padded_entries(system.rows, chosen[part])
        targets = system.targets
        values = there.to(kind) * (targets if isinstance(targets, float) else targets[places].to(kind))
        right[part] = (values[:, None, :] @ factors[system.rows.indices[places]])[:, 0]
    if system.offsets is not None and system.direction is not None:
        right += system.offsets[chosen, None].to(kind) * system.direction.to(kind)
    return right
