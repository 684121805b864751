"""What `fit_best` tried, what it chose and why, and what to expect of it; as a record and in words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from taylorank.data.frames import Library, frame_of
from taylorank.data.html import html_table
from taylorank.models.json_values import plain_value
from taylorank.selection.study import GRACE

Interval = tuple[float, float]


@dataclass(frozen=True)
class Candidate:
    """One kind of model: its best setting on validation data, or in `note` why it was not tried.

    `settings` is how many were tried. `further` has the values of that setting on further parts held back, where the
    first does not tell the best models apart; `interval` is a bootstrap interval over users of the `mean` of all.
    """

    name: str
    params: Mapping[str, Any] = field(default_factory=dict)
    value: float | None = None
    interval: Interval | None = None
    settings: int = 0
    seconds: float = 0.0
    note: str = ""
    unfinished: tuple[str, ...] = ()  # what its share of the seconds did not allow
    further: tuple[float, ...] = ()

    @property
    def mean(self) -> float | None:
        """The mean over the parts that it was judged on."""
        return None if self.value is None else (self.value + sum(self.further)) / (1 + len(self.further))


@dataclass(frozen=True)
class Selection:
    """How a model was chosen; `model.selection_` after `fit_best`.

    `users` of the validation data were judged. `lead` is the chosen model's advantage over the next best, with a
    bootstrap interval over users. `refitted` is whether the model was fitted to all data after the choice; else
    what was held back is folded in.
    """

    data: str
    held_back: str
    metric: str
    users: int
    candidates: list[Candidate]
    chosen: str
    lead: tuple[float, Interval] | None
    refitted: bool
    status: Literal["complete", "interrupted"]
    seconds: float
    budget: float

    @property
    def best(self) -> Candidate:
        """The chosen one."""
        return next(one for one in self.candidates if one.name == self.chosen)

    @property
    def settings(self) -> int:
        """How many settings were tried in all."""
        return sum(one.settings for one in self.candidates)

    @property
    def overrun(self) -> float:
        """Seconds beyond the budget."""
        return max(0.0, self.seconds - self.budget)

    def to_dict(self) -> dict[str, Any]:
        """Return the record as JSON holds it."""
        candidates = [{**asdict(one), "params": _plain(one.params)} for one in self.candidates]
        return {**asdict(self), "candidates": candidates, "settings": self.settings, "overrun": self.overrun}

    def __str__(self) -> str:
        return "\n".join([self.data, *self.lines()])

    def _repr_html_(self) -> str:
        rows = [
            [
                one.name,
                "–" if one.value is None else f"{one.value:.4f}",
                f"{one.settings}",
                f"{one.seconds:.1f}",
                one.note,
            ]
            for one in self.candidates
        ]
        head = ["model", self.metric, "settings", "seconds", "note"]
        return html_table(head, rows, caption=f"chosen: {self.chosen}", more=" ".join(self._ending()))

    def to_frame(self, library: Library | None = None) -> Any:
        """Return the candidates as a table, by default of the library in use."""
        names = ("name", "value", "settings", "seconds", "note")
        return frame_of({name: [getattr(one, name) for one in self.candidates] for name in names}, library)

    def lines(self) -> list[str]:
        """Return what was chosen, why, and what to expect, for people."""
        tried = [f"  {candidate_words(one, self.metric)}" for one in self.candidates]
        return [self.held_back, *tried, *self._choice(), *self._ending()]

    def _choice(self) -> list[str]:
        best = self.best
        if best.mean is None or best.interval is None:
            return [f"chosen: {best.name}; what it is worth on new data is unknown, as nothing could be held back"]
        others = sorted(
            (len(one.further), one.value + sum(one.further), one.name)
            for one in self.candidates
            if one.value is not None and one is not best
        )
        where = f"on average over {1 + len(best.further)} parts held back" if best.further else "on the validation data"
        why = f"chosen: {best.name}, with the highest {self.metric} {where}"
        if others and self.lead is not None:
            difference, (low, high) = self.lead
            sure = "" if low > 0 else ", so that the two may be equally good"
            why += f", {difference:.4f} above {others[-1][-1]} (95 % interval {low:.4f} to {high:.4f}{sure})"
        low, high = best.interval
        parts = f", the mean of {1 + len(best.further)} parts held back" if best.further else ""
        return [
            why,
            f"expected on new data of the same kind: {self.metric} about {best.mean:.4f}{parts} (95 % interval over "
            f"{self.users:,} users {low:.4f} to {high:.4f}); slightly optimistic, as it is the best of "
            f"{self.settings:,} settings on the same data",
        ]

    def _ending(self) -> list[str]:
        lines = [] if self.status == "complete" else ["interrupted: the best so far is returned"]
        folded = "fitted to what was not held back, and all that users have folded in"
        fitted = "fitted to all data" if self.refitted else folded
        lines.append(f"{fitted}; {self.seconds:.1f} s of {self.budget:g} s")
        if self.overrun > GRACE * self.budget:
            lines.append(
                f"the budget was overrun by {self.overrun:.1f} s: a fit that was begun took longer than expected"
            )
        return lines


def candidate_words(one: Candidate, metric: str) -> str:
    """Return a line about a candidate.

    >>> candidate_words(Candidate("EASE", {"regularization": 150.0}, 0.31, (0.30, 0.32), 5, 2.0), "ndcg@10")
    'EASE: ndcg@10 0.3100, regularization 150 (settings tried: 5, 2.0 s)'
    >>> candidate_words(Candidate("EASE", note="too many items"), "ndcg@10")
    'EASE: not tried, too many items'
    """
    if one.value is None:
        return f"{one.name}: not tried, {one.note}" if not one.settings else f"{one.name}: {one.note}"
    params = "".join(f", {name} {_short(value)}" for name, value in one.params.items())
    cut = "; ended by the budget" if one.unfinished else ""
    more = f", {one.mean:.4f} over {1 + len(one.further)} parts" if one.further else ""
    return (
        f"{one.name}: {metric} {one.value:.4f}{more}{params} (settings tried: {one.settings}, {one.seconds:.1f} s{cut})"
    )


def _short(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _plain(params: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: value if isinstance(value, str | int | float | bool | None) else plain_value(value)
        for name, value in params.items()
    }
