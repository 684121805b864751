"""From columns of rows to `Interactions`: encode the ids as positions, sort the pairs, merge the repeats."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, date, datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from taylorank.data.csr import CSR, INDEX_LIMIT, freeze, indptr_of, sort_pairs
from taylorank.data.ids import Ids, id_array, is_missing
from taylorank.data.interactions import Duplicates, Interactions
from taylorank.data.matrix_format import checked_csr
from taylorank.errors import DataError, ParameterError, shown

Column = Sequence[Any] | NDArray[Any]
# Beyond these, sums and squares of strengths leave the range of numbers.
SMALLEST_STRENGTH, LARGEST_STRENGTH = 1e-30, 1e30
BETWEEN = f"{SMALLEST_STRENGTH:g} and {LARGEST_STRENGTH:g}"
NO_TIMES = "drop such rows, or leave timestamps out"
OTHER_UNIT = "use another unit: divide all strengths by the same number"


def from_columns(
    users: Column,
    items: Column,
    strengths: Column | None = None,
    timestamps: Column | None = None,
    *,
    duplicates: Duplicates,
    action: str,
) -> Interactions:
    """Build from columns of original ids, strengths and times."""
    _check_lengths(users, items, strengths, timestamps)
    user_ids, user_codes = encode_ids(users)
    item_ids, item_codes = encode_ids(items)
    return from_codes(
        (user_ids, user_codes),
        (item_ids, item_codes),
        check_strengths(strengths),
        check_times(timestamps),
        duplicates=duplicates,
        action=action,
    )


def from_positions(
    users: tuple[Ids, NDArray[Any]],
    items: tuple[Ids, NDArray[Any]],
    strengths: Column | None = None,
    timestamps: Column | None = None,
) -> Interactions:
    """Build from ids and the position of each row among them; positions outside are refused."""
    _check_lengths(users[1], items[1], strengths, timestamps)
    return from_codes(
        (users[0], _positions(*users, "user")),
        (items[0], _positions(*items, "item")),
        check_strengths(strengths),
        check_times(timestamps),
        duplicates="last",
        action="from positions",
    )


def _positions(ids: Ids, given: NDArray[Any], side: str) -> NDArray[np.int32]:
    positions = np.asarray(given)
    if positions.ndim != 1 or positions.dtype.kind not in "iu":
        raise DataError(f"{side} positions of type {positions.dtype}", "give whole numbers, one per row")
    outside = (positions < 0) | (positions >= len(ids))
    if outside.any():
        row = int(np.argmax(outside))
        raise DataError(
            f"{side} position {positions[row]} in row {row + 1:,} is none of {len(ids):,}",
            f"give numbers from 0 to {len(ids) - 1:,}",
        )
    return positions.astype(np.int32, copy=False)


def _check_lengths(*columns: Column | None) -> None:
    try:
        lengths = [len(c) for c in columns if c is not None]
    except TypeError:  # a number, or a sparse matrix
        raise DataError("a column is no list of values", "give one value per row") from None
    if len(set(lengths)) > 1:
        raise DataError(f"columns of different length: {lengths}", "give one value per row")


def from_codes(
    users: tuple[Ids, NDArray[np.int32]],
    items: tuple[Ids, NDArray[np.int32]],
    strengths: NDArray[np.float32] | None,
    timestamps: NDArray[Any] | None,
    *,
    duplicates: Duplicates,
    action: str,
) -> Interactions:
    """Build from ids encoded as positions; `strengths` and `timestamps` have been checked."""
    if not isinstance(duplicates, str) or duplicates not in ("last", "sum", "max"):
        raise ParameterError(f"duplicates={shown(duplicates)} is unknown", 'choose "last", "sum" or "max"')
    (user_ids, user_codes), (item_ids, item_codes) = users, items
    shape = (len(user_ids), len(item_ids))
    want_order = strengths is not None or timestamps is not None
    indptr, indices, order = sort_pairs(user_codes, item_codes, shape, want_order=want_order)
    rows = CSR(indptr, indices, None if strengths is None else strengths[order], shape[1])
    times = None if timestamps is None else timestamps[order]
    rows, times, merged = _merge_repeats(rows, times, duplicates)
    weights = rows.weights
    if weights is not None and np.all(weights == 1):
        weights = None
    rows = CSR(freeze(rows.indptr), freeze(rows.indices), None if weights is None else freeze(weights), shape[1])
    note = f"{action}, {merged:,} repeated pairs merged ({duplicates})" if merged else action
    data = Interactions(rows, user_ids, item_ids, timestamps=None if times is None else freeze(times))
    return _without_zeros(data.with_step(note))


def _without_zeros(data: Interactions) -> Interactions:
    positive = data.strengths > 0
    if positive.all():
        return data
    return data.select(positive, f"dropped {data.nnz - int(positive.sum()):,} interactions of strength 0")


def from_matrix(matrix: Any, *, users: Ids | None = None, items: Ids | None = None) -> Interactions:
    """Build from a SciPy sparse matrix; repeated entries are summed, explicit zeros dropped, as in SciPy."""
    if not sparse.issparse(matrix):
        raise DataError(f"{type(matrix).__name__} is not a sparse matrix", "wrap it in scipy.sparse.csr_array")
    if matrix.ndim != 2:
        raise DataError(f"a matrix of {matrix.ndim} dimensions", "give users × items")
    if max(matrix.shape) >= INDEX_LIMIT:
        raise DataError(f"shape {matrix.shape} exceeds 2³¹ - 1 on one side", "drop empty rows and columns first")
    rows = checked_csr(matrix)
    rows.sum_duplicates()
    weights = check_strengths(rows.data)
    rows = sparse.csr_array((weights, rows.indices, rows.indptr), shape=rows.shape)
    rows.eliminate_zeros()
    csr = CSR(
        freeze(rows.indptr.astype(np.int64)),
        freeze(rows.indices.astype(np.int32)),
        None if np.all(rows.data == 1) else freeze(rows.data),
        rows.shape[1],
    )
    users = Ids(np.arange(rows.shape[0])) if users is None else users
    items = Ids(np.arange(rows.shape[1])) if items is None else items
    if not (isinstance(users, Ids) and isinstance(items, Ids)):
        raise DataError("ids of a matrix are Ids", "give Ids of a list, one for each row and column")
    if (len(users), len(items)) != rows.shape:
        raise DataError(
            f"{len(users)} users and {len(items)} items for a {rows.shape} matrix",
            "give an id per row and column",
        )
    return Interactions(csr, users, items).with_step(f"from a {rows.shape[0]:,} × {rows.shape[1]:,} matrix")


def encode_ids(values: Column) -> tuple[Ids, NDArray[np.int32]]:
    """Return the distinct ids in ascending order and, for each row, the position of its id."""
    array = id_array(values if isinstance(values, np.ndarray) else list(values))
    if array.dtype == object:
        return _encode_text(array)
    return encode_integers(array)


def encode_integers(values: NDArray[np.int64]) -> tuple[Ids, NDArray[np.int32]]:
    """Encode integer ids: by a table where they are dense enough for one, else by sorting."""
    if not len(values):
        return Ids(np.empty(0, dtype=np.int64)), np.empty(0, dtype=np.int32)
    low, high = int(values.min()), int(values.max())
    if high - low >= max(4 * len(values), 1 << 20):
        distinct, codes = np.unique(values, return_inverse=True)
        check_count(len(distinct))
        return Ids(distinct), codes.astype(np.int32)
    low = min(low, 0) if high < 4 * len(values) else low  # saves a subtraction per row
    offset = values - low if low else values
    present = np.zeros(high - low + 1, dtype=bool)
    present[offset] = True
    distinct = np.flatnonzero(present) + low
    check_count(len(distinct))
    position = np.cumsum(present, dtype=np.int32) - np.int32(1)
    return Ids(distinct), position[offset]


def _encode_text(values: NDArray[Any]) -> tuple[Ids, NDArray[np.int32]]:
    distinct = np.empty(len(unique := sorted(set(values.tolist()))), dtype=object)
    distinct[:] = unique
    ids = Ids(distinct)
    check_count(len(ids))
    return ids, ids.positions(values).astype(np.int32)


def check_count(count: int) -> None:
    if count >= INDEX_LIMIT:
        raise DataError(f"{count:,} distinct ids exceed 2³¹ - 1", "clean or sample the data first")


def check_strengths(values: Column | None) -> NDArray[np.float32] | None:
    """Return strengths as float32; refuse NaN, infinite, negative, huge and tiny ones, naming the first row."""
    if values is None:
        return None
    try:
        if np.iscomplexobj(values):  # NumPy would drop the imaginary part
            raise TypeError
        numbers = np.asarray(values, dtype=np.float64) if not _is_real(values) else np.asarray(values)
    except (TypeError, ValueError, OverflowError):
        raise DataError("strengths are not numbers, or too large for any", "give a numeric column") from None
    numbers = numbers.astype(np.float32) if numbers.dtype == np.float16 else numbers
    bad = ~((numbers >= 0) & (numbers < np.inf))
    if bad.any():
        row = int(np.argmax(bad))
        raise DataError(
            f"strength {numbers[row]} in row {row + 1:,} is not a finite number ≥ 0 ({int(bad.sum()):,} such rows)",
            "drop or correct those rows",
        )
    beyond = (numbers > LARGEST_STRENGTH) | ((numbers < SMALLEST_STRENGTH) & (numbers > 0))
    if beyond.any():
        row = int(np.argmax(beyond))
        raise DataError(f"strength {numbers[row]:g} in row {row + 1:,} is not between {BETWEEN}", OTHER_UNIT)
    return numbers.astype(np.float32)


def _is_real(values: Any) -> bool:
    return isinstance(values, np.ndarray) and values.dtype.kind in "fiub"


def check_times(values: Column | None) -> NDArray[Any] | None:
    """Return times as int64, float64 or datetime64[us]; refuse missing ones, naming the first row."""
    if values is None:
        return None
    array = _column(values)
    if array.dtype == object and any(missing := [is_missing(value) for value in array]):
        raise DataError(f"no timestamp in row {missing.index(True) + 1:,}", NO_TIMES)
    if array.dtype == object and len(array) and all(isinstance(value, date) for value in array):
        array = np.array([_in_utc(value) for value in array], dtype="datetime64[us]")
    if array.dtype.kind == "M":
        array = array.astype("datetime64[us]")
        bad = np.isnat(array)
    elif array.dtype.kind in "iu":
        if array.dtype.kind == "u" and len(array) and array.max() >= 2**63:
            raise DataError(f"timestamp {array.max()} does not fit 64 bits", "use another unit")
        return array.astype(np.int64)
    else:
        try:
            array = array.astype(np.float64)
        except (TypeError, ValueError, OverflowError):
            raise DataError("timestamps are neither numbers nor dates", "convert them, or leave them out") from None
        bad = ~np.isfinite(array)
    if bad.any():
        raise DataError(f"no timestamp in row {int(np.argmax(bad)) + 1:,}", NO_TIMES)
    return array


def _column(values: Column) -> NDArray[Any]:
    try:
        array = np.asarray(values)
    except ValueError:  # rows of different length
        array = np.empty((0, 0))
    if array.ndim != 1:
        raise DataError("timestamps are not one for each row", "give a flat column")
    return array


def _in_utc(moment: date) -> date:
    """Return a moment without time zone; dates as they are."""
    if isinstance(moment, datetime) and moment.tzinfo is not None:
        return moment.astimezone(UTC).replace(tzinfo=None)
    return moment


def _merge_repeats(
    rows: CSR, times: NDArray[Any] | None, duplicates: Duplicates
) -> tuple[CSR, NDArray[Any] | None, int]:
    """Merge equal neighbours of each row; `times` and weights are in row order, repeats in file order."""
    starts_row = np.zeros(rows.nnz + 1, dtype=bool)
    starts_row[rows.indptr] = True
    first = starts_row[:-1]
    first[1:] |= rows.indices[1:] != rows.indices[:-1]
    merged = rows.nnz - int(first.sum())
    weights = rows.weights
    if not merged:
        return rows, times, 0
    if weights is None and times is None and duplicates != "sum":
        return CSR(indptr_of(first, rows.indptr), rows.indices[first], None, rows.n_columns), None, merged
    starts = np.flatnonzero(first)
    if duplicates == "last":
        chosen = _latest(starts, times, rows.nnz)
        weights = None if weights is None else weights[chosen]
        times = None if times is None else times[chosen]
    else:
        values = np.ones(rows.nnz) if weights is None else weights.astype(np.float64)
        merge = np.add if duplicates == "sum" else np.maximum
        weights = check_strengths(merge.reduceat(values, starts))
        times = None if times is None else np.maximum.reduceat(times, starts)
    return CSR(indptr_of(first, rows.indptr), rows.indices[first], weights, rows.n_columns), times, merged


def _latest(starts: NDArray[np.int64], times: NDArray[Any] | None, n: int) -> NDArray[np.int64]:
    """Return, for each group of repeats, its latest entry: by time if known, then by order in the source."""
    last = np.append(starts[1:], n) - 1
    if times is None:
        return last
    several = last > starts
    lengths = (last - starts + 1)[several]
    group = np.repeat(np.arange(len(lengths)), lengths)
    within = np.arange(len(group)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    entry = np.repeat(starts[several], lengths) + within
    order = np.lexsort((entry, times[entry], group))
    last[several] = entry[order[np.cumsum(lengths) - 1]]
    return last
