"""What tuning tried and what it found."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from taylorank.models.recommender import Recommender

Status = Literal["complete", "pruned", "failed"]


@dataclass(frozen=True)
class Trial:
    """One setting and its value on validation data.

    `fit` numbers the fits: the points of one path share theirs. `users` says how many validation users were judged; a
    search may judge first on a sample. A failed trial has the value None and says why in `note`.
    """

    params: dict[str, Any]
    value: float | None
    seconds: float
    status: Status = "complete"
    step_values: tuple[float, ...] = ()
    fit: int = 0
    users: int = 0
    note: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return the trial as JSON holds it."""
        return {**asdict(self), "step_values": list(self.step_values)}


@dataclass
class Tuning:
    """The result of `tune`: the best parameters, the model fitted with them, and how they were found.

    `status` is "complete" if the search ended by itself or with its budget, "interrupted" after Ctrl-C. `budget` is
    what was allowed, `seconds` what it took. `refitted` says whether `model` was fitted to train and validation data.
    """

    name: str
    metric: str
    best: dict[str, Any]
    value: float
    trials: list[Trial]
    model: Recommender | None
    seconds: float
    budget: dict[str, float | int | None]
    method: str
    status: Literal["complete", "interrupted"] = "complete"
    refitted: bool = False
    advice: list[str] = field(default_factory=list)
    parts: dict[str, float] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return all but the model, as JSON holds it."""
        plain = {name: value for name, value in vars(self).items() if name not in ("model", "trials")}
        return {**plain, "trials": [trial.to_dict() for trial in self.trials]}
