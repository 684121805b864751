"""Cold users: unknown to the model, or without history in its training data."""

from __future__ import annotations

from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from taylorank.errors import ParameterError, UnknownIdError, shown
from taylorank.ranking.ranker import Positions, Ranker

Cold = Literal["popularity", "nan", "error"]
SHOWN = 3


def known_rows(ranker: Ranker, wanted: NDArray[Any], cold: Cold | None) -> Positions:
    """Return the users' positions, -1 for unknown ones; raise for those that `cold` does not cover."""
    if cold not in (None, *get_args(Cold)):
        raise ParameterError(f"cold={cold!r} is unknown", f"choose from {', '.join(get_args(Cold))}")
    if wanted.ndim != 1:
        raise ParameterError(f"users have {wanted.ndim} dimensions", "give a plain list of ids")
    rows = ranker.users.positions(wanted)
    if cold in (None, "error") and (rows < 0).any():
        raise _unknown_error(ranker, wanted[rows < 0])
    if cold == "error":
        empty = ranker.is_cold(rows)
        if empty.any():
            names = _listed(wanted[empty])
            raise UnknownIdError(f"user {names} has no history in the training data", 'pass cold="popularity"')
    return rows


def _unknown_error(ranker: Ranker, ids: NDArray[Any]) -> UnknownIdError:
    kind = "text" if ranker.users.is_text else "integers"
    example = f", such as {ranker.users.values[:1].tolist()[0]!r}" if len(ranker.users) else ""
    return UnknownIdError(
        f"unknown user {_listed(ids)} (ids here are {kind}{example})",
        'for new users with a history use fold_in; cold="popularity" gives them the popular items',
    )


def _listed(ids: NDArray[Any]) -> str:
    plain = [value.item() if isinstance(value, np.generic) else value for value in ids[:SHOWN]]
    more = f" and {len(ids) - SHOWN:,} more" if len(ids) > SHOWN else ""
    return ", ".join(map(shown, plain)) + more
