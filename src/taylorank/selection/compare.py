"""Models compared fairly: the same splits, the same budget of tuning, one test each, and tests of significance."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from taylorank.data import Interactions
from taylorank.ranking import Rankable
from taylorank.ranking.protocols import EvaluationProtocol
from taylorank.ranking.protocols import protocol as protocol_named
from taylorank.selection.begin import Data, Place, first_part, has_run, keep_run, new_record, resume
from taylorank.selection.contenders import Contender, Models, contenders
from taylorank.selection.one_run import run_one, tested
from taylorank.selection.plan import checked_seeds, make_plan
from taylorank.selection.record import Record, load_record, plain, save_record
from taylorank.selection.spaces import Space
from taylorank.selection.summary import summarise


@dataclass(frozen=True)
class CompareProgress:
    """What the callback is told: which model on which seed is at what, and how many runs are done of how many."""

    model: str
    seed: int
    stage: str
    done: int
    total: int


@dataclass(frozen=True, repr=False)
class Comparison:
    """The result of `compare`: `record` holds everything, as JSON has it (see `selection.record`)."""

    record: Record

    @property
    def best(self) -> str | None:
        """The name of the best model by the metric that chooses; None if all failed."""
        best: str | None = self.record["summary"]["best"].get(self.record["settings"]["primary"])
        return best

    @property
    def models(self) -> dict[str, Any]:
        """What is said about each model: means, intervals, comparison with the best, seconds, memory."""
        models: dict[str, Any] = self.record["summary"]["models"]
        return models

    def __repr__(self) -> str:
        """Say the models from best to worst; the record is long."""
        primary = self.record["settings"]["primary"]
        means = {name: found["metrics"][primary]["mean"] for name, found in self.models.items() if "metrics" in found}
        shown = [f"{name} {means[name]:.4f}" for name in sorted(means, key=means.__getitem__, reverse=True)]
        shown += [f"{name} failed" for name in self.models if name not in means]
        return f"Comparison({primary}: {', '.join(shown)})"

    def save(self, path: Place) -> None:
        """Write the record as JSON, atomically."""
        save_record(self.record, path)

    @classmethod
    def load(cls, path: Place) -> Comparison:
        """Read what `save` wrote; other versions are refused."""
        return cls(load_record(path))

    def report(self, path: Place) -> None:
        """Write the report, one HTML file; needs the extra [report]."""
        from taylorank.report import write_report

        write_report(self.record, path)


def compare(
    data: Data,
    models: Models,
    *,
    protocol: str | EvaluationProtocol = "papers",
    seeds: Sequence[int] = (0, 1, 2),
    trials: int | None = None,
    seconds: float | None = None,
    metrics: str | Sequence[str] | None = None,
    k: int | Sequence[int] = (10, 20),
    spaces: Mapping[str, Space] | None = None,
    file: Place | None = None,
    name: str | None = None,
    command: str | None = None,
    callback: Callable[[CompareProgress], object] | None = None,
) -> Comparison:
    """Tune, fit and test every model on every seed; return means, intervals, tests against the best, and costs.

    Every seed is a repetition of everything: its own split, tuning, fit, and one test. A model that fails is
    reported with its error, and the others go on.

    Parameters
    ----------
    data
        The interactions; for the protocol "published" the pair (train, test).
    models
        Names of `taylorank.registry`, compositions among them, or of peers ("implicit-als", "irspack-ials"), estimators
        (anything with `fit` that meets `ranking.Rankable`), or a mapping from names of your choice to either.
    trials, seconds
        The budget of tuning, which each model has on each seed: fits, seconds, or both; 20 fits if neither is given,
        no tuning with `trials=0`. Models without a space, such as Popularity, need none.
    metrics, k
        What is reported, as `evaluate` takes it; by default what the protocol reports. Tuning goes by the protocol's
        choice if it is among them, else by the first.
    spaces
        Name → space of tuning, where the default is not wanted.
    file
        JSON that is written after every run. If it exists the comparison goes on from there; runs that failed are
        tried again.
    name, command
        What the report calls the data, and the command line that made it.

    >>> from taylorank.data import planted
    >>> found = compare(planted(150, 50, interactions=2000), ["ease", "popularity"], seeds=(0,), trials=0)
    >>> found.best, sorted(found.models)
    ('ease', ['ease', 'popularity'])
    """
    way = protocol_named(protocol) if isinstance(protocol, str) else protocol
    takers = contenders(models, spaces)
    items = first_part(data).n_items
    plan = make_plan(way, metrics=metrics, k=k, trials=trials, seconds=seconds, n_items=items)
    record = new_record(data, takers, way, plan, checked_seeds(seeds), name=name, command=command)
    resume(record, file)
    total = len(takers) * len(record["settings"]["seeds"])
    for seed in record["settings"]["seeds"]:
        missing = [one for one in takers if not has_run(record, one.name, seed)]
        parts = way.prepare(data, seed) if missing else None
        for one in missing:
            done = len(record["runs"])

            def tell(stage: str, one: Contender = one, seed: int = seed, done: int = done) -> None:
                if callback is not None:
                    callback(CompareProgress(one.label, seed, stage, done, total))

            assert parts is not None
            journal = None if file is None else Path(f"{os.fspath(file)}.{one.name.replace('/', '+')}.{seed}.tuning")
            follows = seed == record["settings"]["seeds"][0]
            run = run_one(one, parts, plan, seed=seed, journal=journal, follows=follows, tell=tell)
            keep_run(record, run, file)
            if journal is not None:
                journal.unlink(missing_ok=True)
            tell("failed" if run["error"] else "done")
    record["summary"] = plain(summarise(record))
    if file is not None:
        save_record(record, file)
    return Comparison(record)


def compare_fitted(
    data: Interactions,
    fitted: Mapping[str, Rankable],
    *,
    metrics: Sequence[str],
    seconds: Mapping[str, float] | None = None,
    params: Mapping[str, Mapping[str, Any]] | None = None,
    bounds: Sequence[str] = (),
    seed: int = 0,
    name: str | None = None,
    command: str | None = None,
) -> Comparison:
    """Compare models that are fitted already, on one split by the papers' protocol.

    `seconds` and `params` say, where known, how long fitting and choosing took and what was chosen. `bounds` names
    those that are no contenders but show how good a ranking can be. Budgets of tuning are not known here.
    """
    way = protocol_named("papers")
    takers = [Contender(one, one, model, {}) for one, model in fitted.items()]
    plan = make_plan(way, metrics=metrics, k=10, trials=0, seconds=None, n_items=data.n_items)
    record = new_record(data, takers, way, plan, checked_seeds([seed]), name=name, command=command)
    record["budget"] |= {"says": "the models came fitted", "fit_means": "seconds of fitting and choosing"}
    parts = way.prepare(data, seed)
    for one, model in fitted.items():
        record["models"][one]["is_bound"] = one in bounds
        run = {"model": one, "seed": seed, "error": None, "tuning": None, "peak_memory_bytes": None}
        run |= {"params": dict((params or {}).get(one, {})), "fit_seconds": (seconds or {}).get(one)}
        keep_run(record, run | tested(model, parts, plan), None)
    record["summary"] = plain(summarise(record))
    return Comparison(record)
