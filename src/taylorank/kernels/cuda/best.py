"""The k best items of each user on a device: blocks of scores by matrix products, never all of them.

The items are split into groups of neighbours. The k best items are within the k groups with the largest maxima, of
equal maxima those of lower items: each of k groups that come before another holds an item that comes before all of its
items. So a block of scores is read once, for its maxima, and only k groups of each row are looked at again.
"""

from __future__ import annotations

import operator
from collections.abc import Callable

import torch

from taylorank.errors import ParameterError
from taylorank.kernels.cuda import torch_reference
from taylorank.kernels.cuda.compiler import next_power
from taylorank.kernels.cuda.device_rows import DeviceRows
from taylorank.kernels.cuda.memory import cells_at_once
from taylorank.kernels.cuda.precision import halves, products_in
from taylorank.kernels.cuda.selection import MOST_KEYS, group_maxima, select, selects

BLOCK_CELLS = 1 << 28  # scores held at a time, if they fit into a quarter of the free memory
CPU_CELLS = 1 << 20
USUAL_GROUP = 32


def top_k(
    users: torch.Tensor,
    items: torch.Tensor,
    *,
    k: int,
    scales: torch.Tensor | None = None,
    offsets: torch.Tensor | None = None,
    seen: DeviceRows | None = None,
    allowed: torch.Tensor | None = None,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return item numbers (int64) and scores (float32) of the k largest a_y (P_x · Q_y) + b_y of each row, best first.

    Shapes: `users` is P (B, K), `items` is Q (N, K), `scales` is a (N,), `offsets` is b (N,); the results are (B, k).
    Row x of `seen` holds the items to leave out for row x of P; `allowed` (N,) says which items may be ranked at all.
    Of equal scores the lower item number comes first; −inf is left out; a score that is not a number is an error. Short
    lists are padded with -1 and NaN.

    On a CUDA device each factor is split into two numbers of 11 bits and products of the lower two are left out, which
    tensor cores compute three times as fast as float32, with an error of about 2⁻²² beside 2⁻²⁴ of each product.

    >>> P, Q = torch.tensor([[1.0, 0.0], [0.0, 1.0]]), torch.tensor([[3.0, 1.0], [2.0, 5.0], [3.0, 0.0]])
    >>> top_k(P, Q, k=2)[0]
    tensor([[0, 2],
            [1, 0]])
    """
    P, Q, k = _checked(users, items, k)
    n_items = len(Q)
    a, b = _line(scales, n_items, "scales", Q), _line(offsets, n_items, "offsets", Q)
    if seen is not None:
        _check_seen(seen, len(P), n_items)
    if allowed is not None:
        may_rank = _checked_allowed(allowed, n_items, Q)
        b = torch.where(may_rank, torch.zeros_like(Q[:, 0]) if b is None else b, -torch.inf)
    if len(P) == 0 or n_items == 0:
        empty = torch.empty(len(P), 0, device=P.device)
        return torch_reference.pad_lists(empty.long(), empty, k)
    group = group_size(n_items, k)
    width = -(-n_items // group) * group
    score = _scorer(P, Q, a, b, width)
    size = max(1, cells_at_once(P.device, BLOCK_CELLS, on_cpu=CPU_CELLS) // width)
    bounds = torch.arange(0, len(P) + size, size).clamp_(max=len(P))
    entries = None if seen is None else seen.indptr[bounds.to(P.device)].tolist()
    found = []
    for number, (first, last) in enumerate(zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True)):
        block = score(first, last)  # (last − first, width)
        if seen is not None and entries is not None:
            _hide(block, seen, first, last, entries[number : number + 2])
        found.append(_best(block, min(k, n_items), group, first))
    ids, best = (torch.cat(parts) for parts in zip(*found, strict=True))
    return torch_reference.pad_lists(ids, best, k)


def group_size(n_items: int, k: int) -> int:
    """Return how many neighbours make a group: a power of two such that k groups hold at most a quarter of the items.

    It grows with a large catalogue, as long as one program can sort both the maxima and the candidates.

    >>> [group_size(n_items, 20) for n_items in (100, 1000, 9888, 1_000_000)]
    [1, 8, 32, 128]
    """
    group = USUAL_GROUP
    while group * MOST_KEYS < n_items and 2 * group * next_power(k) <= MOST_KEYS:
        group *= 2
    while group > 1 and 4 * k * group > n_items:
        group //= 2
    return group


def _best(scores: torch.Tensor, k: int, group: int, first_row: int) -> tuple[torch.Tensor, torch.Tensor]:
    if group == 1:
        return torch_reference.top_k_scores(scores, k, first_row=first_row)
    maxima = group_maxima(scores, group)  # (B, groups)
    torch_reference.check_numbers(scores, maxima, first_row)
    if selects(scores, maxima.shape[1], group, k):
        return select(scores, maxima, k=k)
    numbers = torch.arange(maxima.shape[1], device=scores.device)
    best = torch.topk(torch_reference.falling_keys(maxima, numbers), k, dim=1).values
    chosen = torch_reference.LOW_BITS - (best & ((1 << 32) - 1))  # (B, k) groups
    columns = (chosen[:, :, None] * group + torch.arange(group, device=scores.device)).flatten(1)  # (B, k · group)
    keys = torch_reference.falling_keys(scores.gather(1, columns), columns)
    return torch_reference.from_keys(torch.topk(keys, k, dim=1).values)


def _hide(scores: torch.Tensor, seen: DeviceRows, first: int, last: int, entries: list[int]) -> None:
    """Set the scores of the seen items of users first, …, last − 1 to −inf."""
    part = seen.indices[entries[0] : entries[1]]
    numbers = torch.arange(last - first, device=scores.device)
    owners = torch.repeat_interleave(numbers, seen.row_lengths[first:last], output_size=len(part))
    scores.view(-1).index_fill_(0, owners * scores.shape[1] + part, -torch.inf)


Scorer = Callable[[int, int], torch.Tensor]


def _scorer(P: torch.Tensor, Q: torch.Tensor, a: torch.Tensor | None, b: torch.Tensor | None, width: int) -> Scorer:
    """Return a function that scores users first, …, last − 1: (last − first, width), −inf past the items."""
    total = sum(part.sum(dtype=torch.float64) for part in (P, Q, a) if part is not None)
    if P.is_cuda and bool(torch.isfinite(torch.as_tensor(total))):  # else one of them is not finite
        return _split_scorer(P, Q if a is None else a[:, None] * Q, b, width)

    def score(first: int, last: int) -> torch.Tensor:
        with products_in("highest"):
            block = P[first:last] @ Q.mT
        if a is not None:
            block *= a
        if b is not None:
            block += b
            block.masked_fill_(b == -torch.inf, -torch.inf)
        return torch.nn.functional.pad(block, (0, width - len(Q)), value=-torch.inf)

    return score


def _split_scorer(P: torch.Tensor, Q: torch.Tensor, b: torch.Tensor | None, width: int) -> Scorer:
    """Scores as one TF32 product: [P¹ P¹ P² 1 1] · [Q¹ Q² Q¹ b¹ b²] where P = P¹ + P² and P¹ has 11 bits."""
    n_items, K = Q.shape
    columns = -(-(3 * K + 2) // 8) * 8  # tensor cores read whole lines of 8
    line = torch.zeros(n_items, device=Q.device) if b is None else b
    right = torch.zeros(width, columns, device=Q.device)
    right[n_items:, 3 * K] = -torch.inf
    high, low = halves(Q)
    right[:n_items, :K], right[:n_items, K : 2 * K], right[:n_items, 2 * K : 3 * K] = high, low, high
    right[:n_items, 3 * K], right[:n_items, 3 * K + 1] = split(line)

    def score(first: int, last: int) -> torch.Tensor:
        high, low = halves(P[first:last])
        ends = torch.zeros(last - first, columns - 3 * K, device=P.device)
        ends[:, :2] = 1
        with products_in("high"):
            return torch.cat([high, high, low, ends], dim=1) @ right.mT

    return score


def split(values: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Return `halves` of the values; where x is infinite or not a number, x and 0.

    >>> high, low = split(torch.tensor([1.0000001, -3.0, -torch.inf]))
    >>> high.tolist(), low[1:].tolist()
    ([1.0, -3.0, -inf], [0.0, 0.0])
    """
    finite = torch.isfinite(values)
    high, low = halves(values)
    return torch.where(finite, high, values), torch.where(finite, low, 0.0)


def _checked(users: torch.Tensor, items: torch.Tensor, k: int) -> tuple[torch.Tensor, torch.Tensor, int]:
    try:
        length = operator.index(k)
    except TypeError:
        length = 0
    if length < 1:
        raise ParameterError(f"k is {k!r}", "give a whole number of at least 1")
    for matrix, name in ((users, "users"), (items, "items")):
        if matrix.ndim != 2 or not matrix.is_floating_point():
            raise ParameterError(
                f"{name} are {matrix.dtype} with shape {tuple(matrix.shape)}", "pass a matrix of floats"
            )
    if users.shape[1] != items.shape[1]:
        raise ParameterError(
            f"users have {users.shape[1]} factors but items have {items.shape[1]}", "pass the factors of one model"
        )
    if users.device != items.device:
        raise ParameterError(f"users are on {users.device} but items on {items.device}", "move them to one device")
    return users.float().contiguous(), items.float().contiguous(), length


def _line(line: torch.Tensor | None, n_items: int, name: str, items: torch.Tensor) -> torch.Tensor | None:
    if line is None:
        return None
    values = torch.as_tensor(line, dtype=torch.float32, device=items.device)
    if values.shape != (n_items,):
        raise ParameterError(f"{name} have shape {tuple(values.shape)}", f"give one number for each of {n_items} items")
    return values.contiguous()


def _check_seen(seen: DeviceRows, n_users: int, n_items: int) -> None:
    if (seen.n_rows, seen.n_columns) != (n_users, n_items):
        raise ParameterError(
            f"seen is {seen.n_rows} × {seen.n_columns} but there are {n_users} users and {n_items} items",
            "take the rows of these users",
        )
    seen.check()


def _checked_allowed(allowed: torch.Tensor, n_items: int, items: torch.Tensor) -> torch.Tensor:
    mask = torch.as_tensor(allowed, device=items.device)
    if mask.dtype != torch.bool or mask.shape != (n_items,):
        raise ParameterError(
            f"allowed is {mask.dtype} with shape {tuple(mask.shape)}", f"give one boolean for each of {n_items} items"
        )
    return mask
