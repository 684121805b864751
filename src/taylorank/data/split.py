"""Splits into train, validation and test, all over the same id spaces."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from taylorank.data.csr import INDEX_LIMIT
from taylorank.data.interactions import Interactions
from taylorank.data.shuffle import random_keys, rank_within_rows, tie_keys
from taylorank.errors import DataError, ParameterError, shown

NAMES = {2: ("train", "test"), 3: ("train", "valid", "test")}


class HeldOut(NamedTuple):
    """Users whom training never sees: `seen` is given to the fitted model, `target` is to be predicted."""

    seen: Interactions
    target: Interactions


def split(
    data: Interactions, ratios: Sequence[float] = (0.8, 0.1, 0.1), *, random_state: int = 0
) -> tuple[Interactions, ...]:
    """Split each user's interactions at random.

    Of n interactions, test and validation get ⌊n · ratio⌋ each, by their ratios, but at least one (test first)
    as long as train keeps one; train has the rest. So a user of 3 has 1 in each part; a user of 2 has
    one in train and one in test; a user of 1 is in train alone. Plain rounding down would give users with fewer
    than 10 interactions nothing to be tested on.

    The same `random_state` gives the same split whatever the machine and the order of the rows in the source.
    """
    ratios = check_ratios(ratios)
    held = held_counts(data.by_user.row_lengths, ratios)  # (parts - 1, users), last part first
    order = np.argsort(random_keys(data.nnz, random_state))
    return cut_rows(
        data, rank_within_rows(data.by_user, order), held, f"split {shown_ratios(ratios)}, seed {random_state}"
    )


def split_last(
    data: Interactions, *, valid: int = 1, test: int = 1, random_state: int = 0
) -> tuple[Interactions, Interactions, Interactions]:
    """Give each user's last `test` interactions to test and the `valid` before them to validation (leave-one-out).

    Train keeps at least one interaction of each user; test is filled before validation. Interactions of one user
    at the same moment are ordered at random; with `random_state=0` as sequence models order them.
    """
    times = _times(data, "split_last")
    for name, count in (("valid", valid), ("test", test)):
        if isinstance(count, bool) or not isinstance(count, int | np.integer) or not 0 <= count < INDEX_LIMIT:
            raise ParameterError(f"{name}={shown(count)} is not a count", "give a whole number ≥ 0")
    lengths = data.by_user.row_lengths
    to_test = np.minimum(test, np.maximum(lengths - 1, 0))
    to_valid = np.minimum(valid, np.maximum(lengths - 1 - to_test, 0))
    newest_first = np.lexsort((tie_keys(data.by_user.indices, times, random_state), times))[::-1]
    rank = rank_within_rows(data.by_user, newest_first)
    train, middle, last = cut_rows(data, rank, [to_test, to_valid], f"split_last({valid}, {test})")
    return train, middle, last


def split_time(
    data: Interactions, ratios: Sequence[float] = (0.8, 0.1, 0.1), *, at: Sequence[Any] | None = None
) -> tuple[Interactions, ...]:
    """Cut the whole log at moments in time; an interaction at a cut belongs to the later part.

    `at` gives one moment (train, test) or two (train, valid, test), in the unit of the timestamps; otherwise
    the moments are chosen so that about `ratios` of the interactions fall in each part. Test may hold users and
    items that are not in train, as in production.
    """
    times = _times(data, "split_time")
    if at is None:
        shares = check_ratios(ratios)
        places = (np.cumsum(shares)[:-1] * data.nnz + 1e-9).astype(np.int64)
        ordered = np.sort(times)
        after = ordered[-1:] + np.ones(1, dtype=np.float64).astype(_step_type(times))
        cuts = np.concatenate((ordered, after))[places] if data.nnz else times[:0]
    else:
        cuts = _moments(at, times)
    part = np.searchsorted(cuts, times, side="right")
    names = NAMES[len(cuts) + 1]
    shown = ", ".join(str(c) for c in cuts)
    parts = tuple(data.select(part == p, f"split_time at {shown}: {name}") for p, name in enumerate(names))
    expected = [1.0] * len(names) if at is not None else [float(r) for r in ratios]
    for name, share, piece in zip(names, expected, parts, strict=True):
        if not piece.nnz and share > 0:
            raise DataError(f"split_time at {shown} leaves {name} empty", "choose other moments with at=…")
    return parts


def split_users(
    data: Interactions, ratios: Sequence[float] = (0.8, 0.1, 0.1), *, fold_in: float = 0.8, random_state: int = 0
) -> tuple[Interactions, HeldOut, HeldOut]:
    """Hold out whole users for validation and test (strong generalisation, Liang et al. 2018).

    `ratios` are the shares of the users. Of a held-out user's n interactions, n − max(1, ⌊n·(1 − fold_in)⌋) are `seen`
    and the rest is the `target`; users with a single interaction have only `seen`. Items without
    training users are dropped from the held-out users first, since no model could know them.
    """
    shares = check_ratios(ratios, exactly=3)
    if not 0 < fold_in < 1:
        raise ParameterError(
            f"fold_in={fold_in} is not between 0 and 1", "give the share of history shown, such as 0.8"
        )
    active = np.flatnonzero(data.by_user.row_lengths > 0)
    order = active[np.argsort(random_keys(len(active), random_state))]
    n_valid, n_test = (max(1, int(len(active) * share + 1e-9)) if share else 0 for share in shares[1:])
    if n_valid + n_test >= len(active):
        raise DataError(f"{len(active)} users are too few to hold out {n_valid + n_test}", "use fewer, or split()")
    part = np.zeros(data.n_users, dtype=np.int8)
    part[order[:n_test]] = 2
    part[order[n_test : n_test + n_valid]] = 1
    of_entry = np.repeat(part, data.by_user.row_lengths)
    known = np.zeros(data.n_items, dtype=bool)
    known[data.by_user.indices[of_entry == 0]] = True
    usable = known[data.by_user.indices]
    label = f"split_users {shown_ratios(shares)}, seed {random_state}"
    train = data.select(of_entry == 0, f"{label}: train")
    held = [data.select((of_entry == p) & usable, f"{label}: {NAMES[3][p]}") for p in (1, 2)]
    valid, test = (HeldOut(*split(users, (fold_in, 1 - fold_in), random_state=random_state)) for users in held)
    return train, valid, test


def check_ratios(ratios: Sequence[float], *, exactly: int | None = None) -> tuple[float, ...]:
    """Return the ratios as floats; there are two or three, each ≥ 0, the first > 0, and they sum to 1."""
    try:
        shares = tuple(float(r) for r in ratios)
    except TypeError:
        raise ParameterError(f"ratios={ratios!r} is not a list of shares", "write (0.8, 0.1, 0.1)") from None
    counts = (exactly,) if exactly else (2, 3)
    if len(shares) not in counts:
        raise ParameterError(f"{len(shares)} ratios given", f"give {' or '.join(map(str, counts))}: train first")
    if not (all(r >= 0 for r in shares) and shares[0] > 0 and abs(sum(shares) - 1) < 1e-6):
        raise ParameterError(f"ratios {shares} are not shares that sum to 1", "write (0.8, 0.1, 0.1)")
    return shares


def held_counts(lengths: NDArray[np.int64], ratios: tuple[float, ...]) -> list[NDArray[np.int64]]:
    """Return how many of each user's interactions go to each held-out part, test first."""
    spare = np.maximum(lengths - 1, 0)  # train keeps one
    counts = []
    for share in reversed(ratios[1:]):
        least = 1 if share > 0 else 0
        wanted = np.maximum(np.floor(lengths * share + 1e-9).astype(np.int64), least)
        counts.append(np.minimum(wanted, spare))
        spare = spare - counts[-1]
    return counts


def cut_rows(data: Interactions, rank: NDArray[np.int64], held: list[NDArray[np.int64]], label: str) -> tuple[Any, ...]:
    """Give the first-ranked entries of each row to the last part, the next to the one before, the rest to train."""
    lengths = data.by_user.row_lengths
    part = np.zeros(data.nnz, dtype=np.int8)
    taken = np.zeros(data.n_users, dtype=np.int64)
    for place, count in zip(range(len(held), 0, -1), held, strict=True):
        low, high = np.repeat(taken, lengths), np.repeat(taken + count, lengths)
        part[(rank >= low) & (rank < high)] = place
        taken = taken + count
    names = NAMES[len(held) + 1]
    return tuple(data.select(part == p, f"{label}: {name}") for p, name in enumerate(names))


def _times(data: Interactions, what: str) -> NDArray[Any]:
    if data.timestamps is None:
        raise DataError(f"{what} needs timestamps and the data has none", "read with timestamp=…, or use split()")
    return data.timestamps


def _moments(at: Sequence[Any], times: NDArray[Any]) -> NDArray[Any]:
    moments = at if isinstance(at, list | tuple | np.ndarray) else [at]
    if len(moments) not in (1, 2):
        raise ParameterError(f"{len(moments)} moments given", "give one (train, test) or two (train, valid, test)")
    try:
        cuts = np.array(moments, dtype="datetime64[us]" if times.dtype.kind == "M" else np.float64)
    except (TypeError, ValueError):
        raise ParameterError(f"at={at!r} are not times like {times[:1]}", "give them in the data's unit") from None
    if times.dtype.kind != "M" and not np.all(np.isfinite(cuts)):
        raise ParameterError(f"at={at!r} are not times", "give finite numbers in the data's unit")
    if times.dtype.kind == "i" and np.all(cuts == np.floor(cuts)):
        cuts = np.array(moments, dtype=np.int64)
    if np.any(np.diff(cuts) <= np.zeros(1, dtype=np.diff(cuts).dtype)):
        raise ParameterError(f"at={at!r} is not ascending", "give the earlier moment first")
    return cuts


def _step_type(times: NDArray[Any]) -> str:
    return "timedelta64[us]" if times.dtype.kind == "M" else times.dtype.str


def shown_ratios(ratios: tuple[float, ...]) -> str:
    """Return the ratios as text: 0.8/0.1/0.1."""
    return "/".join(f"{r:g}" for r in ratios)
