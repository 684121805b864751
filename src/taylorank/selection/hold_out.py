"""Validation data held back from all data: what came last where times are known, else a random part."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, get_args

from taylorank.data import Interactions
from taylorank.data.describe import are_moments
from taylorank.data.tail import knows_order, split_tail
from taylorank.errors import ParameterError
from taylorank.selection.blocks import split_blocks

HoldOut = Literal["last", "random", "blocks"]
Parts = tuple[Interactions, ...]


@dataclass(frozen=True, eq=False)
class HeldBack:
    """Training and validation data, what kind of part was held back, and a line that says which and why."""

    train: Interactions
    valid: Interactions
    kind: HoldOut
    line: str


def hold_back(
    data: Interactions, share: float = 0.1, *, hold_out: HoldOut | None = None, random_state: int = 0
) -> HeldBack:
    """Hold back `share` of each user's interactions, at least one, while train keeps one.

    `hold_out` is "last": the last of each user; "random": a random part; "blocks": groups of like items
    (`split_blocks`); None: the last where times or an order tell them apart, else a random part.

    >>> data = Interactions.from_arrays([1, 1, 1], ["a", "b", "c"], timestamps=[30, 20, 10])
    >>> held = hold_back(data)
    >>> held.kind, held.valid.items_of(1).tolist(), hold_back(data, hold_out="random").kind
    ('last', ['a'], 'random')
    """
    if not 0 < share < 1:
        raise ParameterError(f"share={share} is not between 0 and 1", "give a share such as 0.1")
    if hold_out is not None and hold_out not in get_args(HoldOut):
        raise ParameterError(f"hold_out={hold_out!r} is unknown", f"choose from {', '.join(get_args(HoldOut))}")
    kind: HoldOut = hold_out or ("last" if knows_order(data) else "random")
    splits: dict[HoldOut, Callable[[], Parts]] = {
        "last": lambda: split_tail(data, (1 - share, share), random_state=random_state),
        "random": lambda: data.split((1 - share, share), random_state=random_state),
        "blocks": lambda: split_blocks(data, share, random_state=random_state),
    }
    train, valid = splits[kind]()
    why = "as asked for" if hold_out is not None else _reason(data, kind)
    return HeldBack(train, valid, kind, f"held back: {_part(kind, share)}, {why}")


def _part(kind: HoldOut, share: float) -> str:
    """What is held back, in words."""
    percent = f"{100 * share:.3g} %"
    return {
        "last": f"the last {percent} of each user's items",
        "random": f"a random {percent} of each user's items",
        "blocks": f"{percent} of each user's items, as groups of like ones",
    }[kind]


def _reason(data: Interactions, kind: HoldOut) -> str:
    if data.timestamps is None:
        return "as the data has no times"
    if kind == "random":
        return "as the times do not tell the items of most users apart"
    return f"as their {'times are' if are_moments(data.timestamps) else 'order is'} known and what comes next is wanted"
