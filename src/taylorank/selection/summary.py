"""The summary of each model from the runs of a comparison.

A metric's mean is that over seeds. Seeds share their users, so their values are not independent: a user's value is
first averaged over seeds, and intervals and tests are over users. Where each user's values were not kept, intervals and
tests are those that an earlier summary has of the same runs; a pair without a test is marked as not tested.

`test` names the method of the tests made here, whose adjusted p is `p_adjusted`. Summaries from before it have none,
and `p_holm`: each pair's own p, corrected by Holm's method for the number of models but not for the choice of the best.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taylorank.report.record import Record, plain
from taylorank.selection.per_user import PerUser, UserValues
from taylorank.selection.significance import METHOD, against_best, mean_interval

Run = dict[str, Any]
Summary = dict[str, Any]
Means = NDArray[np.float64] | None  # (users of the data,), NaN for those never tested; None where none is known


def summarise(record: Record, per_user: PerUser, *, known: Sequence[Summary] = ()) -> Summary:
    """Return {"seeds", "users", "best", "models", "test"} of all seeds that every model has been through.

    `known` are earlier summaries, of some of the models.
    """
    seeds = _finished_seeds(record)
    known = [one for one in known if one.get("seeds") == seeds]
    runs = {name: [_run(record, name, seed) for seed in seeds] for name in record["models"]}
    fine = {name: parts for name, parts in runs.items() if parts and not any(run["error"] for run in parts)}
    models = {name: _costs(parts) if name in fine else _failure(parts) for name, parts in runs.items()}
    best, users = {}, [0, *(one["users"] for one in known)]
    n_users = 1 + max((int(found.users.max(initial=0)) for found in per_user.values()), default=0)
    for metric in record["settings"]["metrics"]:
        means = {name: user_means([per_user.get((name, seed)) for seed in seeds], metric, n_users) for name in fine}
        for name, parts in fine.items():
            models[name]["metrics"][metric] = _mean(parts, metric, means[name], known)
        users += [int(np.isfinite(values).sum()) for values in means.values() if values is not None]
        rivals = {name: means[name] for name in fine if not record["models"][name].get("is_bound")}
        if rivals:
            best[metric] = _compare(models, metric, rivals, known)
    summary: Summary = plain({"seeds": seeds, "users": max(users), "best": best, "models": models})
    return {**summary, "test": METHOD} if _has_new_tests(models) else summary


def _has_new_tests(models: dict[str, Any]) -> bool:
    tests = [test for found in models.values() for test in found.get("versus_best", {}).values()]
    return any(test.get("p_adjusted") is not None for test in tests)


def _finished_seeds(record: Record) -> list[int]:
    done = {(run["model"], run["seed"]) for run in record["runs"]}
    return [seed for seed in record["settings"]["seeds"] if all((name, seed) in done for name in record["models"])]


def _run(record: Record, name: str, seed: int) -> Run:
    return next(run for run in record["runs"] if (run["model"], run["seed"]) == (name, seed))


def _failure(runs: list[Run]) -> dict[str, Any]:
    errors = [run["error"] for run in runs if run["error"]]
    if not errors:
        return {"error": "not run yet"}
    return {"error": f"{len(errors)} of {len(runs)} seeds failed: {errors[0]}"}


def _costs(runs: list[Run]) -> dict[str, Any]:
    fits = [run["fit_seconds"] for run in runs if run["fit_seconds"] is not None]
    tunings = [run["tuning"]["seconds"] for run in runs if run["tuning"]]
    peaks = [run["peak_memory_bytes"] for run in runs if run["peak_memory_bytes"] is not None]
    cutoffs = [k for k, _ in runs[0]["by_cutoff"]]
    curves = np.array([[value for _, value in run["by_cutoff"]] for run in runs])
    return {
        "metrics": {},
        "versus_best": {},
        "fit_seconds": float(np.mean(fits)) if fits else None,
        "tuning_seconds": float(np.mean(tunings)) if tunings else None,
        "peak_memory_bytes": max(peaks, default=None),
        "by_cutoff": [[k, float(value)] for k, value in zip(cutoffs, curves.mean(axis=0), strict=True)],
        "by_popularity": _groups([run["by_popularity"] for run in runs]),
    }


def _groups(parts: list[list[dict[str, Any]]]) -> list[dict[str, Any]]:
    """Mean recall of every group over seeds, with sizes of the first seed."""
    groups = []
    for same in zip(*parts, strict=True):
        found = [part["recall"] for part in same if part["recall"] is not None]
        groups.append({**same[0], "recall": float(np.mean(found)) if found else None})
    return groups


def user_means(runs: Sequence[UserValues | None], metric: str, n_users: int) -> Means:
    """Return each user's mean over runs; None where the values of a run were not kept, or the metric is of no user."""
    sums, counts = np.zeros(n_users), np.zeros(n_users)
    for run in runs:
        if run is None or metric not in run.metrics:
            return None
        values = run.metrics[metric].astype(np.float64)
        users = run.users[np.isfinite(values)]
        sums[users] += values[np.isfinite(values)]
        counts[users] += 1
    means: NDArray[np.float64] = np.divide(sums, counts, out=np.full(n_users, np.nan), where=counts > 0)
    return means


def _mean(runs: list[Run], metric: str, of_users: Means, known: Sequence[Summary]) -> dict[str, Any]:
    seeds = [run["metrics"][metric] for run in runs]
    mean = float(np.mean(seeds))
    value: dict[str, Any] = {"mean": mean, "low": None, "high": None}
    value["seed_sd"] = float(np.std(seeds, ddof=1)) if len(seeds) > 1 else None
    if of_users is None:
        before = (one["models"].get(runs[0]["model"], {}).get("metrics", {}).get(metric) for one in known)
        return next((found for found in before if found is not None), value)
    tested = of_users[np.isfinite(of_users)]
    if len(tested) > 1:
        centre, low, _ = mean_interval(tested)
        value["low"], value["high"] = mean - (centre - low), mean + (centre - low)
    return value


def _compare(models: dict[str, Any], metric: str, rivals: dict[str, Means], known: Sequence[Summary]) -> str:
    """Test every model against the best; note it in `models`; return the best."""
    mean = {name: models[name]["metrics"][metric]["mean"] for name in rivals}
    best = max(mean, key=mean.__getitem__)
    if all(models[name]["metrics"][metric]["low"] is None for name in rivals):
        return best  # a metric of all lists together, or of a single user
    best, tests = _tested(rivals, best)
    for name in [name for name in rivals if name != best and name not in tests]:
        untested = {"difference": mean[name] - mean[best], "low": None, "high": None, "p": None, "p_adjusted": None}
        tests[name] = _known_test(known, name, best, metric) or untested
    for name, test in tests.items():
        models[name]["versus_best"][metric] = test
    return best


def _tested(rivals: dict[str, Means], best: str) -> tuple[str, dict[str, dict[str, Any]]]:
    """The best, and the tests against it of the models whose users are known, on the users that all of these have."""
    measured = {name: values for name, values in rivals.items() if values is not None}
    if best not in measured:
        return best, {}
    common = np.logical_and.reduce([np.isfinite(values) for values in measured.values()])
    if np.count_nonzero(common) < 2:
        return best, {}
    every = {name: values[common] for name, values in measured.items()}
    best, found = against_best(every, best=best if len(measured) < len(rivals) else None)
    return best, {name: asdict(versus) for name, versus in found.items()}


def _known_test(known: Sequence[Summary], name: str, best: str, metric: str) -> dict[str, Any] | None:
    """The test of two models in an earlier summary where the same one was best."""
    for one in known:
        found = one["models"].get(name, {}).get("versus_best", {}).get(metric)
        if found is not None and one["best"].get(metric) == best:
            return dict(found)
    return None
