"""The best parameters of a model on validation data, within a stated budget."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from taylorank.data import Interactions
from taylorank.errors import ParameterError
from taylorank.models.recommender import Recommender
from taylorank.models.registry import MODELS, model_class
from taylorank.selection.judge import Judge, Metric
from taylorank.selection.space import SPACES, Space
from taylorank.selection.trial import Trial, Tuning

DEFAULT_TRIALS = 20


def tune(
    model: Recommender | type[Recommender] | str,
    train: Interactions,
    valid: Interactions,
    *,
    metric: str = "ndcg@10",
    space: Space | None = None,
    trials: int | None = None,
    seconds: float | None = None,
    seed: int = 0,
    file: Any = None,
    seen: Interactions | Sequence[Interactions] | None = None,
    fold_in: Interactions | None = None,
    callback: Callable[[Trial], object] | None = None,
    refit: bool = False,
) -> Tuning:
    """Search `space` for the parameters with the best `metric` on `valid`."""
    began = time.perf_counter()
    name, base = resolve(model)
    judge = Judge(Metric.named(metric), valid, seen, fold_in)
    space = SPACES[name] if space is None else space
    rng = np.random.default_rng(seed)
    limit = trials if trials is not None else (None if seconds is not None else DEFAULT_TRIALS)
    done: list[Trial] = []
    best: tuple[float, dict[str, Any], Recommender | None] = (-np.inf, {}, None)
    while limit is None or len(done) < limit:
        start = time.perf_counter()
        if done and seconds is not None and start - began >= seconds:
            break
        params = {key: part.draw(rng) for key, part in space.items()}
        fitted = copy_of(base, params).fit(train)
        value = judge.value(fitted)
        trial = Trial(params, value, time.perf_counter() - start, fit=len(done), users=judge.users)
        done.append(trial)
        if value > best[0]:
            best = value, params, fitted
        if callback is not None and callback(trial):
            break
        if not space:
            break
    value, params, chosen = best
    return Tuning(
        name=name,
        metric=metric,
        best=params,
        value=value,
        trials=done,
        model=chosen,
        seconds=time.perf_counter() - began,
        budget={"trials": limit, "seconds": seconds},
        method="random search",
    )


def resolve(model: Recommender | type[Recommender] | str) -> tuple[str, Recommender]:
    """Return the registry name of a model and an unfitted instance with its fixed parameters."""
    base = model_class(model)() if isinstance(model, str) else model() if isinstance(model, type) else model
    for name, kind in MODELS.items():
        if type(base) is kind:
            return name, base
    if isinstance(base, Recommender):
        return type(base).__name__, base
    raise ParameterError(f"{model!r} is not a model", f"give a model or one of {', '.join(MODELS)}")


def copy_of(base: Recommender, params: dict[str, Any]) -> Recommender:
    """Return an unfitted model with the parameters of `base`, changed by `params`."""
    return type(base)(**base.get_params()).set_params(**params)
