"""The results in sentences."""

from __future__ import annotations

import math
from typing import Any

from taylorank.report.numbers import and_list, metric_label, quality, seconds
from taylorank.report.record import Record

LEVEL = 0.05
METHODS = {  # where a test has its adjusted p → what it says
    "p_adjusted": f"sign-flip test over users, p < {LEVEL} adjusted for all pairs of models, which allows for choosing "
    "the best on the same users",
    "p_holm": f"sign-flip test over users, p < {LEVEL} after Holm's correction, which does not allow for choosing the "
    "best on the same users",
}


def lead_sentence(record: Record) -> str:
    """Return the result in one sentence: who is best, by how much, how sure, how fast."""
    metric = record["settings"]["primary"]
    ranked = ranking(record, metric)
    if not ranked:
        return "No model could be fitted; the table says why."
    models = record["summary"]["models"]
    best = models[ranked[0]]
    parts = [f"{label(record, ranked[0])} is best on {metric_label(metric)}, {with_margin(best['metrics'][metric])}"]
    if len(ranked) > 1:
        parts.append(_certainty(record, metric, ranked))
    if best.get("fit_seconds") is not None:
        parts.append(f"fitted in {seconds(best['fit_seconds'])}")
    return "; ".join(parts) + "."


def further_sentences(record: Record) -> list[str]:
    """Return what else a reader should know: who is best elsewhere, who is faster, what is not tested, who failed."""
    metric = record["settings"]["primary"]
    ranked = ranking(record, metric)
    about_ranked = (_bound, _elsewhere, _faster, _unsteady, _untested)
    sentences = [*(about(record, metric, ranked) for about in about_ranked)]
    sentences += [_inconclusive(record), _overrun(record), _failures(record)]
    return [*filter(None, sentences), *record.get("notes", [])]


def label(record: Record, name: str) -> str:
    """Return the name of a model for people."""
    return str(record["models"].get(name, {}).get("label", name))


def ranking(record: Record, metric: str, *, bounds: bool = False) -> list[str]:
    """Return the models that have the metric, best first; bounds, which are no contenders, only if asked for."""
    models = record["summary"]["models"]
    having = [
        name
        for name, facts in record["models"].items()
        if metric in models.get(name, {}).get("metrics", {}) and (bounds or not facts.get("is_bound"))
    ]
    return sorted(having, key=lambda name: -models[name]["metrics"][metric]["mean"])


def with_margin(value: Record) -> str:
    """Return "0.2312 ± 0.0040": a mean and half its interval."""
    half = margin(value)
    return quality(value["mean"]) + (f" ± {half:.4f}" if half is not None else "")


def margin(value: dict[str, Any]) -> float | None:
    """Return half the width of the interval, if there is one."""
    low, high = value.get("low"), value.get("high")
    return None if low is None or high is None else float(high - low) / 2


def is_worse(record: Record, name: str, metric: str) -> bool | None:
    """Return whether the model is significantly worse than the best; None where nothing was tested."""
    p = adjusted_p(record["summary"]["models"][name].get("versus_best", {}).get(metric))
    return None if p is None else p < LEVEL


def adjusted_p(test: dict[str, Any] | None) -> float | None:
    """Return the p that counts of a test against the best; tests of before have it under the name of Holm."""
    return None if test is None else test.get("p_adjusted", test.get("p_holm"))


def methods_used(record: Record) -> list[str]:
    """Return the keys of `METHODS` that the record's tests were made with; a join of records can have both."""
    tests = [test for facts in record["summary"]["models"].values() for test in facts.get("versus_best", {}).values()]
    return [method for method in METHODS if any(test.get(method) is not None for test in tests)]


def mark_words(record: Record) -> str:
    """Return what † means, by the method that the record's tests were made with; "" if none was made."""
    meant = [METHODS[method] for method in methods_used(record)]
    return f"† significantly below the best: {'; or '.join(meant)}" if meant else ""


def _certainty(record: Record, metric: str, ranked: list[str]) -> str:
    tests = {name: is_worse(record, name, metric) for name in ranked[1:]}
    better, equal, untested = (
        [label(record, name) for name, worse in tests.items() if worse is kind] for kind in (True, False, None)
    )
    if len(untested) == len(tests):
        return f"{label(record, ranked[1])} follows, no test of significance was made"
    found = _difference(better, equal, all_others=len(tests) > 1 and not untested)
    return f"{found}; no test of significance was made against {and_list(untested)}" if untested else found


def _difference(better: list[str], equal: list[str], *, all_others: bool) -> str:
    """Name the models that the best is significantly better than; `all_others` if no other model was compared."""
    if not equal:
        return f"significantly better than {'all others' if all_others else and_list(better)}"
    if not better:
        return "not significantly better than any other" if all_others else f"not significantly above {and_list(equal)}"
    if all_others:
        return f"significantly better than all but {and_list(equal)}"
    return f"significantly better than {and_list(better)}, not than {and_list(equal)}"


def _untested(record: Record, metric: str, ranked: list[str]) -> str:
    """Return why some models are not tested against the best, and how they can be."""
    noted = {name: record["summary"]["models"][name].get("versus_best", {}).get(metric) for name in ranked[1:]}
    names = [label(record, name) for name, test in noted.items() if test is not None and test["p"] is None]
    if not names:
        return ""
    return (
        f"Not tested against the best: {and_list(names)}, for each user's values were not kept; "
        "`taylorank compare --per-user` keeps them."
    )


def _bound(record: Record, metric: str, ranked: list[str]) -> str:
    """Return the share of the best possible value, where that is known, that the best model reaches."""
    bounds = [name for name in ranking(record, metric, bounds=True) if name not in ranked]
    if not bounds or not ranked:
        return ""
    most, found = (record["summary"]["models"][name]["metrics"][metric]["mean"] for name in (bounds[0], ranked[0]))
    return f"That is {100 * found / most:.0f} % of what can be reached ({label(record, bounds[0])}: {quality(most)})."


def _elsewhere(record: Record, metric: str, ranked: list[str]) -> str:
    winners: dict[str, list[str]] = {}
    for other in record["settings"]["metrics"]:
        order = ranking(record, other)
        if order and other != metric and order[0] != ranked[0]:
            winners.setdefault(order[0], []).append(metric_label(other))
    parts = [f"{label(record, name)} on {and_list(metrics)}" for name, metrics in winners.items()]
    return f"Other metrics have other winners: {'; '.join(parts)}." if parts else ""


def _faster(record: Record, metric: str, ranked: list[str]) -> str:
    """Name the fastest model that keeps 95 % of the best quality, if it takes less than half the time."""
    models = record["summary"]["models"]
    if not ranked or models[ranked[0]].get("fit_seconds") is None:
        return ""
    best = models[ranked[0]]
    enough = [
        name
        for name in ranked[1:]
        if models[name]["metrics"][metric]["mean"] >= 0.95 * best["metrics"][metric]["mean"]
        and models[name].get("fit_seconds") is not None
    ]
    quickest = min(enough, key=lambda name: models[name]["fit_seconds"], default=None)
    if quickest is None or models[quickest]["fit_seconds"] > best["fit_seconds"] / 2:
        return ""
    share = models[quickest]["metrics"][metric]["mean"] / best["metrics"][metric]["mean"]
    times = best["fit_seconds"] / models[quickest]["fit_seconds"]
    return f"{label(record, quickest)} reaches {100 * share:.0f} % of that in a {_ordinal(times)} of the time."


def _ordinal(times: float) -> str:
    whole = round(times)
    return "half" if whole <= 2 else "third" if whole == 3 else "quarter" if whole == 4 else f"{whole}th"


def _unsteady(record: Record, metric: str, ranked: list[str]) -> str:
    """Name the models that differ more from seed to seed than their intervals over users explain."""
    models = record["summary"]["models"]
    unsteady = []
    for name in ranked:
        value = models[name]["metrics"][metric]
        half, spread = margin(value), value.get("seed_sd")
        if half is not None and spread is not None and spread > half:
            unsteady.append(f"{label(record, name)} (standard deviation {spread:.4f})")
    if not unsteady:
        return ""
    return f"Unsteady from seed to seed: {and_list(unsteady)}; more trials or more seeds would tell more."


def _inconclusive(record: Record) -> str:
    """Name the models that could not finish tuning within their seconds, with what was left open first."""
    parts: dict[str, str] = {}
    for run in record["runs"]:
        unfinished = (run.get("tuning") or {}).get("unfinished")
        if unfinished:
            parts.setdefault(run["model"], f"{label(record, run['model'])} ({unfinished[0]})")
    return f"Inconclusive: {'; '.join(parts.values())}. More seconds would tell more." if parts else ""


def _overrun(record: Record) -> str:
    """Name the models whose tuning took over 10 % more than its seconds."""
    allowed = float((record.get("budget") or {}).get("seconds") or math.inf)
    most: dict[str, float] = {}
    for run in record["runs"]:
        over = (run.get("tuning") or {}).get("overrun") or 0.0
        if over > 0.1 * allowed:
            most[run["model"]] = max(over, most.get(run["model"], 0.0))
    parts = [f"{label(record, name)} ({seconds(allowed + over)} of {seconds(allowed)})" for name, over in most.items()]
    return f"Tuning took longer than it was allowed: {and_list(parts)}." if parts else ""


def _failures(record: Record) -> str:
    failed: dict[str, int] = {}
    for run in record["runs"]:
        if run.get("error"):
            failed[run["model"]] = failed.get(run["model"], 0) + 1
    parts = [f"{label(record, name)} ({count} of {_runs(record, name)} runs)" for name, count in failed.items()]
    return f"Failed: {and_list(parts)}." if parts else ""


def _runs(record: Record, name: str) -> int:
    return sum(run["model"] == name for run in record["runs"])
