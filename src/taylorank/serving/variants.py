"""Which model a user gets: a share of users for each, the same model for the same user on every server."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import blake2b


def share_of(user: int | str, experiment: str = "") -> float:
    """Return a number in [0, 1) that depends on the user and the experiment alone; 7 and "7" are two users.

    >>> share_of(17) == share_of(17), share_of(17) == share_of("17")
    (True, False)
    """
    kind = "t" if isinstance(user, str) else "i"
    digest = blake2b(f"{experiment}\n{kind}\n{user}".encode("utf-8", "backslashreplace"), digest_size=7).digest()
    return int.from_bytes(digest, "big") / 2**56


def variant_of(user: int | str, weights: Mapping[str, float], experiment: str = "") -> str:
    """Return the name whose part of [0, 1), cut by weights in their order, holds the share of the user."""
    place = share_of(user, experiment) * sum(weights.values())
    for name, weight in weights.items():
        if place < weight:
            return name
        place -= weight
    return max(weights, key=lambda name: weights[name])  # rounding at the very end
