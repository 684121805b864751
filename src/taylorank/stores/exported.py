"""What an export reports: what was written where, and how well it finds what the model finds."""

from __future__ import annotations

from dataclasses import dataclass

METRICS = {"ip": "inner product", "cosine": "cosine"}


@dataclass(frozen=True)
class Measured:
    """How a store answers users of the model, one query at a time.

    `recall` is the mean share of the model's exact list of `n` items that the store finds, seen items left out of both;
    `milliseconds` the median time of a query; `users` how many were asked.
    """

    n: int
    users: int
    recall: float
    milliseconds: float


@dataclass(frozen=True)
class Exported:
    """The result of an export.

    Parameters
    ----------
    kind, index, metric
        The store, how it searches, and what it maximises: "ip" or "cosine".
    target
        Where the vectors are, without a password.
    items, users, dimensions
        How many vectors of either side there are, and their length.
    left_out_items, left_out_users
        Items without interactions, which are never recommended, and users without history, who get the popular items.
    bytes
        Of the items, their ids and metadata and the index; None where the store does not tell.
    measured
        Recall and latency; None if nobody was asked.
    """

    kind: str
    index: str
    metric: str
    target: str
    items: int
    users: int
    dimensions: int
    left_out_items: int
    left_out_users: int
    bytes: int | None
    measured: Measured | None

    def __str__(self) -> str:
        size = "" if self.bytes is None else f", {self.bytes:,} bytes"
        lines = [
            f"{self.kind} ({self.index}, {METRICS[self.metric]}): {self.items:,} items, {self.dimensions:,} numbers "
            f"each{size}"
        ]
        if self.measured is not None:
            found = self.measured
            lines.append(
                f"recall@{found.n} {found.recall:.4f} of the model's exact lists, {found.milliseconds:.3g} ms per "
                f"query ({found.users:,} users, median)"
            )
        left_out = [
            f"{count:,} {what}"
            for count, what in (
                (self.left_out_items, "items without interactions"),
                (self.left_out_users, "users without history (they get the popular items)"),
            )
            if count
        ]
        return "\n".join([*lines, *([f"left out: {', '.join(left_out)}"] if left_out else []), f"in: {self.target}"])
