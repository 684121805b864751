"""Which items satisfy the filters of a request: {column: value or condition}, all of which hold."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from taylorank.errors import ParameterError
from taylorank.serving.catalogue import Catalogue, kind_of
from taylorank.serving.schema import Condition

Mask = NDArray[np.bool_]
ORDERS: dict[str, Callable[[Any, Any], Any]] = {
    "below": operator.lt,
    "at_most": operator.le,
    "above": operator.gt,
    "at_least": operator.ge,
}


def allowed_by(filters: Mapping[str, Any], catalogue: Catalogue) -> Mask:
    """Return which items satisfy all filters, (N,); a missing value satisfies none."""
    mask = np.ones(len(catalogue.items), dtype=bool)
    for name, wanted in filters.items():
        if name not in catalogue.columns:
            known = ", ".join(list(catalogue.columns)[:20])
            raise ParameterError(
                f"there is no column {name!r} to filter by",
                f"choose from {known}" if known else "start the server with --items",
            )
        column = catalogue.columns[name]
        for holds in _conditions(column, wanted):
            mask &= holds.fill_null(False).to_numpy()
    return mask


def _conditions(column: pl.Series, wanted: Any) -> list[pl.Series]:
    """Return one column of true, false or null for each thing that is asked of it."""
    if not isinstance(wanted, Condition):
        return [_equal(column, wanted)]
    asked = wanted.model_dump(exclude_none=True)
    if not asked:
        raise ParameterError(f"the filter of {column.name!r} asks nothing", 'give a value, {"in": […]} or {"<": x}')
    found: list[pl.Series] = []
    for name, value in asked.items():
        if name == "one_of":
            found.append(_one_of(column, value))
        elif name == "different":
            found.append(~_equal(column, value))
        elif name == "contains":
            _same_kind(column, value)
            found.append(column.str.contains(value, literal=True))
        else:
            _same_kind(column, value)
            found.append(ORDERS[name](column, value))
    return found


def _equal(column: pl.Series, value: Any) -> pl.Series:
    _same_kind(column, value)
    same: pl.Series = column == value
    return same


def _one_of(column: pl.Series, values: list[Any]) -> pl.Series:
    for value in values:
        _same_kind(column, value)
    if kind_of(column) == "number":
        return column.cast(pl.Float64).is_in(pl.Series([float(v) for v in values], dtype=pl.Float64).implode())
    return column.is_in(pl.Series(values, dtype=column.dtype).implode())


def _same_kind(column: pl.Series, value: Any) -> None:
    kind = kind_of(column)
    given = "flag" if isinstance(value, bool) else "text" if isinstance(value, str) else "number"
    if given != kind:
        raise ParameterError(f"column {column.name!r} holds {kind}s, not {value!r}", f"compare it with a {kind}")
