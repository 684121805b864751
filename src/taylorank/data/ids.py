"""Original ids and their positions 0..n-1, both ways."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taylorank.data.csr import freeze
from taylorank.errors import DataError, UnknownIdError, shown

Id = int | str


class Ids:
    """The ids of one side (users or items), ascending and unique: all integers, or all text.

    Position k stands for `values[k]`. Integers are held as int64; text is held as Python strings, so
    "007" and "7" differ and nothing is trimmed.

    >>> ids = Ids(["007", "7", "anna"])
    >>> ids.positions(["7", "bob"])
    array([ 1, -1])
    >>> ids.take([2, -1]).tolist()
    ['anna', '']
    >>> ids[:2].tolist(), "anna" in ids
    (['007', '7'], True)
    """

    def __init__(self, values: Iterable[Id] | NDArray[Any]) -> None:
        array = values if isinstance(values, np.ndarray) else id_array(list(values))
        if array.dtype != np.int64 and array.dtype != object:
            array = id_array(array)
        if np.any(array[1:] <= array[:-1]):
            raise DataError("ids are not ascending and unique", "sort them and drop the repeats")
        own = array.copy() if array is values else array  # the caller's array stays writable
        self.values: NDArray[Any] = freeze(own)

    @property
    def is_text(self) -> bool:
        """Whether the ids are text rather than integers."""
        return self.values.dtype == object

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, position: Any) -> Any:
        """Return the id at a position, or an array of those at several: `ids[0]`, `ids[:3]`, `ids[[2, 5]]`."""
        found = self.values[position]
        return found if isinstance(found, np.ndarray) else _plain(found)

    def __iter__(self) -> Iterator[Id]:
        return iter(self.values.tolist())

    def __contains__(self, one: object) -> bool:
        return isinstance(one, int | str | np.integer) and bool(self.positions([one])[0] >= 0)  # type: ignore[list-item]

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, Ids) or self.is_text != other.is_text:
            return NotImplemented if not isinstance(other, Ids) else False
        return np.array_equal(self.values, other.values)

    def __hash__(self) -> int:
        return hash((len(self), self.is_text))

    def __repr__(self) -> str:
        kind = "text" if self.is_text else "integer"
        head = ", ".join(repr(v) for v in self.values[:3].tolist())
        return f"Ids({len(self):,} {kind} ids: {head}{', …' if len(self) > 3 else ''})"

    @cached_property
    def _position_of_text(self) -> dict[str, int]:
        return {text: position for position, text in enumerate(self.values)}

    def positions(self, ids: Iterable[Id] | NDArray[Any]) -> NDArray[np.int64]:
        """Return the position of each id; -1 for ids that are not here."""
        wanted = ids if isinstance(ids, np.ndarray) else np.array(list(ids), dtype=object)
        if self.is_text:
            lookup = self._position_of_text
            return np.fromiter(
                (lookup.get(i, -1) if isinstance(i, str) else -1 for i in wanted.tolist()),
                dtype=np.int64,
                count=len(wanted),
            )
        if wanted.dtype == object or wanted.dtype == np.uint64:  # uint64 beside int64 would be compared as floats
            return self._positions_of_objects(wanted.astype(object))
        if not np.issubdtype(wanted.dtype, np.integer) or not len(self):
            return np.full(len(wanted), -1)
        place = np.minimum(np.searchsorted(self.values, wanted), len(self) - 1)
        return np.where(self.values[place] == wanted, place, -1)

    def _positions_of_objects(self, wanted: NDArray[Any]) -> NDArray[np.int64]:
        known = np.array([_is_int64(i) for i in wanted.tolist()], dtype=bool)
        out = np.full(len(wanted), -1)
        if known.any():
            out[known] = self.positions(wanted[known].astype(np.int64))
        return out

    def require(
        self, ids: Iterable[Id] | NDArray[Any], what: str = "id", *, remedy: str | None = None
    ) -> NDArray[np.int64]:
        """Return positions like `positions`, but raise `UnknownIdError` if one is not here."""
        wanted = ids if isinstance(ids, np.ndarray) else np.array(list(ids), dtype=object)
        found = self.positions(wanted)
        if np.any(found < 0):
            first = wanted[np.argmax(found < 0)]
            plain = first.item() if isinstance(first, np.generic) else first
            kind = "text" if self.is_text else "integers"
            known = f"ids here are {kind}, such as {self._example()}"
            raise UnknownIdError(f"unknown {what} {shown(plain)}", known if remedy is None else f"{known}; {remedy}")
        return found

    def _example(self) -> str:
        return repr(self.values[:1].tolist()[0]) if len(self) else "none"

    def take(self, positions: Iterable[int] | NDArray[Any]) -> NDArray[Any]:
        """Return the id at each position; position -1 gives the padding -1 or ""."""
        where = np.asarray(positions, dtype=np.int64)
        padding = "" if self.is_text else -1
        if not len(self):
            return np.full(where.shape, padding, dtype=self.values.dtype)
        out = self.values[where]
        out[where < 0] = padding
        return out

    def union(self, other: Ids) -> Ids:
        """Return the ids of both, in order."""
        if self == other or not len(other):
            return self
        if not len(self):
            return other
        if self.is_text != other.is_text and len(self) and len(other):
            raise DataError(
                f"one set has integer ids and the other text ({self._example()} and {other._example()})",
                'read both with ids="text"',
            )
        return Ids(np.union1d(self.values, other.values))


def id_array(values: list[Any] | NDArray[Any]) -> NDArray[Any]:
    """Return ids as an int64 array or an object array of str; refuse anything else, and mixtures."""
    if isinstance(values, np.ndarray) and values.dtype.kind in "iu":
        if values.dtype.kind == "u" and len(values) and values.max() > np.iinfo(np.int64).max:
            raise DataError(f"id {values.max()} does not fit 64 bits", "pass ids as text")
        return values.astype(np.int64)
    plain = values.tolist() if isinstance(values, np.ndarray) else [_plain(v) for v in values]
    if all(isinstance(v, str) for v in plain):
        out = np.empty(len(plain), dtype=object)
        out[:] = plain
        return out
    if all(_is_int64(v) for v in plain):
        return np.array(plain, dtype=np.int64)
    raise DataError(*_what_is_wrong(plain))


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _is_int64(value: Any) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool) and -(2**63) <= int(value) < 2**63


def is_missing(value: Any) -> bool:
    """Whether a value stands for none: None, NaN, or NaT and NA of pandas, which need not be here.

    >>> [is_missing(value) for value in (None, float("nan"), np.datetime64("NaT"), 0, "")]
    [True, True, True, False, False]
    """
    if value is None or type(value).__name__ in ("NaTType", "NAType"):
        return True
    return isinstance(value, float | np.floating | np.datetime64) and bool(value != value)


def _what_is_wrong(plain: list[Any]) -> tuple[str, str]:
    strange = next((v for v in plain if not isinstance(v, str) and not _is_int64(v)), None)
    if strange is None and not any(v is None for v in plain):  # None is strange too
        text = next(v for v in plain if isinstance(v, str))
        number = next(v for v in plain if not isinstance(v, str))
        return f"ids of mixed type: {number!r} is an integer, {text!r} is text", "convert them all to text"
    if strange is None or is_missing(strange):
        return "an id is missing", 'drop those rows, or pass missing="drop"'
    if isinstance(strange, int) and not isinstance(strange, bool):
        return f"id {shown(strange)} does not fit 64 bits", "pass ids as text"
    return f"{shown(strange)} ({type(strange).__name__}) is not an id", "use integers or text"
