"""Choose rank, penalty and other parameters on validation data, with as few fits as possible."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from taylorank.metrics.names import choosing_metric
from taylorank.spark.evaluation import evaluate_views
from taylorank.spark.model import REGULARIZATION, RG2Model
from taylorank.spark.params import check_known

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

SHOWN = 5  # trials


@dataclass(frozen=True, repr=False)
class Tuned:
    """The best model, with its parameters and score, and all that was tried: parameters and metrics, best first."""

    model: Any
    params: dict[str, Any]
    score: float
    trials: list[dict[str, Any]]
    fits: int

    def __repr__(self) -> str:
        """At most a screen: what was chosen, and the best trials."""
        metric = list(self.trials[0])[-1]
        lines = [
            f"{type(self.model).__name__}: {metric} {self.score:.4f} on validation data",
            f"chosen: {_words(self.params)}",
            f"{len(self.trials):,} trials on {self.fits:,} fit{'s' * (self.fits != 1)}",
        ]
        if len(self.trials) > 1:
            lines.append("the best trials:")
        for trial in self.trials[:SHOWN] if len(self.trials) > 1 else ():
            params = {name: value for name, value in trial.items() if name != metric}
            lines.append(f"  {trial[metric]:.4f}  {_words(params)}")
        return "\n".join(lines)


def _words(params: Mapping[str, Any]) -> str:
    return ", ".join(
        f"{name} {value:.4g}" if isinstance(value, float) else f"{name} {value}" for name, value in params.items()
    )


def tune(
    estimator: Any,
    train: DataFrame,
    valid: DataFrame,
    *,
    metric: str = "ndcg@10",
    ranks: Sequence[int] | None = None,
    regParams: Sequence[float] = REGULARIZATION,
    others: Sequence[Mapping[str, Any]] = ({},),
) -> Tuned:
    """Return the best model on `valid`, whose items are ranked among all that a user does not have in `train`.

    Every fit of `RG2` gives all of `ranks` (K/8, K/4, K/2 and K of the estimator by default) times `regParams`, which
    are evaluated in one job. `others` are sets of parameters that need a fit each, such as [{"proposalExponent":
    0.5}, {"proposalExponent": 0.7}]; for `IALS` they are all that is tried.
    """
    wanted, trials, models = choosing_metric(metric), [], []
    for params in others:
        fitted = _fitted(estimator, params, ranks, train)
        found = [fitted]
        if isinstance(fitted, RG2Model):
            top = fitted.value("rank")
            chosen = ranks or sorted({max(1, top // part) for part in (8, 4, 2, 1)})
            found = list(fitted.path(chosen, regParams))
        scores = evaluate_views(
            fitted, [model.view() for model in found], valid, k=wanted.cutoff or 10, metrics=str(wanted)
        )
        for model, score in zip(found, scores, strict=True):
            own = {"rank": model.value("rank"), "regParam": model.value("regParam")}
            trials.append({**params, **own, str(wanted): score[str(wanted)]})
            models.append(model)
    order = sorted(range(len(trials)), key=lambda number: -trials[number][str(wanted)])
    best = order[0]
    settings = {name: value for name, value in trials[best].items() if name != str(wanted)}
    ranked = [trials[number] for number in order]
    return Tuned(models[best], settings, trials[best][str(wanted)], ranked, len(others))


def _fitted(estimator: Any, params: Mapping[str, Any], ranks: Sequence[int] | None, train: DataFrame) -> Any:
    own = estimator.copy()
    check_known(own, params)
    own._set(**params)
    if ranks and own.hasParam("proposalExponent"):
        own._set(rank=max(ranks))
    return own.fit(train)
