"""The top of a hill on a lattice, with few looks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

Place = dict[str, int]


def climb(
    sizes: Mapping[str, int], start: Place, value: Callable[[Place], float], *, steps: Sequence[int] = (2, 1)
) -> Place:
    """Return the place that no step along one axis improves, axis i having places 0 … sizes[i] − 1.

    Goes along each axis while the value grows, with the longest step first. `value` is asked about a place once.

    >>> climb({"a": 9, "b": 5}, {"a": 0, "b": 0}, lambda p: -((p["a"] - 6) ** 2) - (p["b"] - 3) ** 2)
    {'a': 6, 'b': 3}
    """
    known: dict[tuple[int, ...], float] = {}

    def look(place: Place) -> float:
        key = tuple(place.values())
        if key not in known:
            known[key] = value(place)
        return known[key]

    best = dict(start)
    look(best)
    for step in steps:
        before = None
        while before != best:
            before = dict(best)
            for axis in sizes:
                for move in (step, -step):
                    while 0 <= best[axis] + move < sizes[axis]:
                        there = {**best, axis: best[axis] + move}
                        if look(there) <= look(best):
                            break
                        best = there
    return best
