"""What records of comparisons hold for some models: gains, p-values, and what is missing."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

import numpy as np

from research.claims.claim import UNTESTED, Judgement, Numbers
from research.places import Places
from research.reproduce.gather import Gathered, gather, of_record
from research.reproduce.paired import PairedTests
from research.reproduce.tables import RECOMMENDATION, TABLES
from taylorank.report.record import Record

Pair = tuple[str, str, str]  # two models and a metric


def untested(n: Numbers) -> Judgement:
    """The judgement where some of the runs are missing."""
    return Judgement(UNTESTED, f"not run yet on {n.get('set', 'ML-1M')}: {', '.join(n['missing'])}")


def with_models(found: Gathered, models: set[str]) -> Record | None:
    """Return a record in which all of these models came to an end."""
    return next((one for one in found.records.values() if models <= of_record(one).keys()), None)


def gains(found: Gathered, model: str, other: str) -> list[float]:
    """Return by how much a model's values exceed those of another, column by column."""
    return [found.values[model][metric].mean / found.values[other][metric].mean - 1 for metric in RECOMMENDATION]


def gains_and_p_values(places: Places, models: Sequence[str], rivals: Sequence[str]) -> Numbers:
    """Each model's gain over the best rival of a column and its p, paired over users, on the seeds that all have.

    The numbers hold what is missing instead where some have not been run, or not been tested against each other.
    """
    found = gather(TABLES["ml-1m"], places)
    missing = [name for name in (*models, *rivals) if name not in found.values]
    if missing:
        return {"missing": missing}
    seeds = common_seeds(found, (*models, *rivals))
    mean = {name: [_mean(found, name, metric, seeds) for metric in RECOMMENDATION] for name in (*models, *rivals)}
    best = [max((mean[name][column], name) for name in rivals)[1] for column in range(len(RECOMMENDATION))]
    pairs = {name: list(zip([name] * len(best), best, RECOMMENDATION, strict=True)) for name in models}
    p, missing = p_values(places, found, list(chain.from_iterable(pairs.values())), seeds)
    if missing:
        return {"missing": missing}
    gain = {
        name: [mean[name][column] / mean[rival][column] - 1 for column, rival in enumerate(best)] for name in models
    }
    return {
        "seeds": seeds,
        "rivals": best,
        "gain": gain,
        "p": {name: [p[pair] for pair in pairs[name]] for name in models},
    }


def common_seeds(found: Gathered, models: Sequence[str]) -> list[int]:
    """Return the seeds that all of these models have been through, in whatever records."""
    return sorted(set.intersection(*(set(found.by_seed(name, RECOMMENDATION[0])) for name in models)))


def _mean(found: Gathered, model: str, metric: str, seeds: Sequence[int]) -> float:
    values = found.by_seed(model, metric)
    return float(np.mean([values[seed] for seed in seeds])) if seeds else 0.0


def p_values(
    places: Places, found: Gathered, pairs: Sequence[Pair], seeds: Sequence[int]
) -> tuple[dict[Pair, float], list[str]]:
    """Return p of the difference of two models in a metric, paired over users, and which pairs are not tested."""
    tests = PairedTests(TABLES["ml-1m"], found, places)
    made = {pair: tests.test(*pair, seeds=seeds) for pair in pairs} if seeds else dict.fromkeys(pairs)
    missing = [f"a paired test of {first} and {second}" for (first, second, _), test in made.items() if test is None]
    return {pair: test.p for pair, test in made.items() if test is not None}, list(dict.fromkeys(missing))
