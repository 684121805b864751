"""From the runs of a comparison to what is said about each model.

A metric's mean is that over seeds. Seeds share their users, so they are no new evidence about them: a user's value is
first averaged over seeds, and intervals and tests are over users.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taylorank.selection.record import packed, unpacked
from taylorank.selection.significance import against_best, mean_interval

Record = dict[str, Any]
Run = dict[str, Any]


def packed_users(users: NDArray[np.int64], values: dict[str, NDArray[Any]]) -> dict[str, Any]:
    """Return values per user as text; the users are positions in the data, mostly ascending, so gaps are small."""
    gaps = np.diff(users, prepend=0)
    return {"users": packed(gaps, "<i4"), "values": {name: packed(part, "<f4") for name, part in values.items()}}


def summarise(record: Record) -> dict[str, Any]:
    """Return {"users", "best", "models"} of all seeds that every model has been through."""
    seeds = _finished_seeds(record)
    runs = {name: [_run(record, name, seed) for seed in seeds] for name in record["models"]}
    fine = {name: parts for name, parts in runs.items() if parts and not any(run["error"] for run in parts)}
    models = {name: _costs(parts) if name in fine else _failure(parts) for name, parts in runs.items()}
    best, users, space = {}, 0, _user_space(fine)
    for metric in record["settings"]["metrics"]:
        of_users = {name: _user_means(parts, metric, space) for name, parts in fine.items()}
        for name, parts in fine.items():
            models[name]["metrics"][metric] = _mean(parts, metric, of_users[name])
        users = max([users, *(int(np.isfinite(values).sum()) for values in of_users.values())])
        rivals = {name: of_users[name] for name in fine if not record["models"][name].get("is_bound")}
        if rivals:
            best[metric] = _compare(models, metric, rivals)
    return {"seeds": seeds, "users": users, "best": best, "models": models}


def _finished_seeds(record: Record) -> list[int]:
    done = {(run["model"], run["seed"]) for run in record["runs"]}
    return [seed for seed in record["settings"]["seeds"] if all((name, seed) in done for name in record["models"])]


def _user_space(fine: dict[str, list[Run]]) -> int:
    return 1 + max((int(_users(run).max(initial=0)) for parts in fine.values() for run in parts), default=0)


def _users(run: Run) -> NDArray[np.int64]:
    return np.cumsum(unpacked(run["per_user"]["users"], "<i4"), dtype=np.int64)


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


def _user_means(runs: list[Run], metric: str, n_users: int) -> NDArray[np.float64]:
    """Each user's mean over seeds, NaN for those never tested; (n_users,), empty where the metric is of no user."""
    sums, counts = np.zeros(n_users), np.zeros(n_users)
    for run in runs:
        text = run["per_user"]["values"].get(metric)
        if text is None:
            return np.empty(0)
        values = unpacked(text, "<f4").astype(np.float64)
        users = _users(run)[np.isfinite(values)]
        sums[users] += values[np.isfinite(values)]
        counts[users] += 1
    means: NDArray[np.float64] = np.divide(sums, counts, out=np.full(n_users, np.nan), where=counts > 0)
    return means


def _mean(runs: list[Run], metric: str, of_users: NDArray[np.float64]) -> dict[str, Any]:
    seeds = [run["metrics"][metric] for run in runs]
    mean = float(np.mean(seeds))
    value: dict[str, Any] = {"mean": mean, "low": None, "high": None}
    value["seed_sd"] = float(np.std(seeds, ddof=1)) if len(seeds) > 1 else None
    tested = of_users[np.isfinite(of_users)]
    if len(tested) > 1:
        centre, low, _ = mean_interval(tested)
        value["low"], value["high"] = mean - (centre - low), mean + (centre - low)
    return value


def _compare(models: dict[str, Any], metric: str, of_users: dict[str, NDArray[np.float64]]) -> str:
    """Test every model against the best on the users that all have; note it in `models`; return the best."""
    best = max(of_users, key=lambda name: models[name]["metrics"][metric]["mean"])
    if any(not len(values) for values in of_users.values()):
        return best
    common = np.logical_and.reduce([np.isfinite(values) for values in of_users.values()])
    if np.count_nonzero(common) < 2:
        return best
    best, found = against_best({name: values[common] for name, values in of_users.items()})
    for name, versus in found.items():
        models[name]["versus_best"][metric] = asdict(versus)
    return best
