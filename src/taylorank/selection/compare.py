"""Models compared fairly: the same splits, the same budget of tuning, one test each, and tests of significance."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

import taylorank
from taylorank.bench.machine import describe_machine
from taylorank.data import Interactions
from taylorank.data.describe import describe
from taylorank.errors import ParameterError
from taylorank.metrics import wanted_metrics
from taylorank.ranking.protocol import EvaluationProtocol
from taylorank.ranking.protocol import protocol as protocol_named
from taylorank.selection.contenders import Contender, Models, contenders
from taylorank.selection.one_run import Plan, run_one
from taylorank.selection.record import SCHEMA, VERSION, Record, load_record, plain, save_record
from taylorank.selection.space import Space
from taylorank.selection.summary import summarise

CUTOFFS = (1, 2, 5, 10, 20, 50, 100)
DEFAULT_TRIALS = 20
POPULARITY_CUTOFF = 10

Data = Interactions | tuple[Interactions, Interactions]
Path_ = str | os.PathLike[str]


@dataclass(frozen=True)
class CompareProgress:
    """What the callback is told: which model on which seed is at what, and how many runs are done of how many."""

    model: str
    seed: int
    stage: str
    done: int
    total: int


@dataclass(frozen=True)
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

    def save(self, path: Path_) -> None:
        """Write the record as JSON, atomically."""
        save_record(self.record, path)

    @classmethod
    def load(cls, path: Path_) -> Comparison:
        """Read what `save` wrote; other versions are refused."""
        return cls(load_record(path))

    def report(self, path: Path_) -> None:
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
    file: Path_ | None = None,
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
        Names of `models.registry` or of peers ("implicit-als", "irspack-ials"), estimators (anything with `fit` that
        meets `ranking.Scorer`), or a mapping from names of your choice to either.
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
    plan = _plan(way, metrics, k, trials, seconds, _part(data).n_items)
    record = _record(data, takers, way, plan, _seeds(seeds), name=name, command=command)
    _resume(record, file)
    total = len(takers) * len(record["settings"]["seeds"])
    for seed in record["settings"]["seeds"]:
        missing = [one for one in takers if not _has(record, one.name, seed)]
        parts = way.prepare(data, seed) if missing else None
        for one in missing:
            done = len(record["runs"])

            def tell(stage: str, one: Contender = one, seed: int = seed, done: int = done) -> None:
                if callback is not None:
                    callback(CompareProgress(one.label, seed, stage, done, total))

            assert parts is not None
            journal = None if file is None else Path(f"{os.fspath(file)}.{one.name}.{seed}.tuning")
            follows = seed == record["settings"]["seeds"][0]
            run = run_one(one, parts, plan, seed=seed, journal=journal, follows=follows, tell=tell)
            _keep(record, run, file)
            if journal is not None:
                journal.unlink(missing_ok=True)
            tell("failed" if run["error"] else "done")
    record["summary"] = plain(summarise(record))
    if file is not None:
        save_record(record, file)
    return Comparison(record)


def _plan(
    way: EvaluationProtocol,
    metrics: str | Sequence[str] | None,
    k: int | Sequence[int],
    trials: int | None,
    seconds: float | None,
    n_items: int,
) -> Plan:
    if trials is not None and (isinstance(trials, bool) or not isinstance(trials, int) or trials < 0):
        raise ParameterError(f"trials={trials!r} is not a count", "give a whole number ≥ 0; 0 means no tuning")
    if seconds is not None and not seconds > 0:
        raise ParameterError(f"seconds={seconds!r} allows nothing", "give more than 0")
    wanted = [str(one) for one in wanted_metrics(way.metrics if metrics is None else metrics, k)]
    if metrics is None:
        wanted = list(way.metrics)  # in the protocol's order
    primary = way.chooses if way.chooses in wanted else wanted[0]
    curve = tuple(c for c in CUTOFFS if c <= n_items) if "@" in primary else ()
    budget = DEFAULT_TRIALS if trials is None and seconds is None else trials
    return Plan(tuple(wanted), primary, curve, POPULARITY_CUTOFF, budget, seconds)


def _seeds(seeds: Sequence[int]) -> list[int]:
    given = [seeds] if isinstance(seeds, int | np.integer) else list(seeds)
    if not given or len(set(given)) != len(given) or any(int(seed) != seed or seed < 0 for seed in given):
        raise ParameterError(f"seeds={seeds!r}", "give different whole numbers ≥ 0, such as (0, 1, 2)")
    return [int(seed) for seed in given]


def _part(data: Data) -> Interactions:
    return data if isinstance(data, Interactions) else data[0]


def _record(
    data: Data,
    takers: list[Contender],
    way: EvaluationProtocol,
    plan: Plan,
    seeds: list[int],
    *,
    name: str | None,
    command: str | None,
) -> Record:
    says = " ".join((type(way).__doc__ or "").partition("\n\n")[0].split())
    record = {
        "schema": SCHEMA,
        "version": VERSION,
        "written": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "taylorank": taylorank.__version__,
        "command": command,
        "machine": describe_machine(),
        "data": {"name": name, **asdict(describe(_part(data)))},
        "protocol": {"name": way.name, "says": says},
        "settings": {
            "metrics": plan.metrics,
            "primary": plan.primary,
            "seeds": seeds,
            "popularity_cutoff": plan.popularity_cutoff,
            "fingerprint": fingerprint(data),
        },
        "budget": {"trials": plan.trials, "seconds": plan.seconds},
        "models": {one.name: one.described() for one in takers},
        "runs": [],
        "summary": {"seeds": [], "users": 0, "best": {}, "models": {}},
    }
    found: Record = plain(record)
    return found


def fingerprint(data: Data) -> str:
    """Return a short text that differs for different data."""
    found = hashlib.sha256()
    for part in [data] if isinstance(data, Interactions) else data:
        for values in (part.by_user.indptr, part.by_user.indices, part.strengths, part.timestamps):
            found.update(b"" if values is None else np.ascontiguousarray(values).tobytes())
        for ids in (part.user_ids, part.item_ids):
            found.update("\n".join(map(str, ids.tolist())).encode())
    return found.hexdigest()[:16]


def _resume(record: Record, file: Path_ | None) -> None:
    """Take over what an earlier run left in the file; one that belongs to another comparison is refused."""
    if file is None or not Path(file).exists():
        return
    old = load_record(file)
    same = ("metrics", "primary", "popularity_cutoff", "fingerprint")
    differs = [key for key in same if old["settings"].get(key) != record["settings"][key]]
    differs += [key for key in ("protocol", "budget") if old.get(key) != record[key]]
    differs += ["seeds"] if not set(old["settings"]["seeds"]) <= set(record["settings"]["seeds"]) else []
    differs += [f"model {one}" for one, facts in old["models"].items() if record["models"].get(one) != facts]
    if differs:
        raise ParameterError(
            f"{os.fspath(file)} holds another comparison ({', '.join(differs)} differ)", "give another file"
        )
    record["runs"] = [run for run in old["runs"] if not run["error"]]
    record["written"], record["command"] = old["written"], record["command"] or old["command"]


def _has(record: Record, name: str, seed: int) -> bool:
    return any((run["model"], run["seed"]) == (name, seed) for run in record["runs"])


def _keep(record: Record, run: dict[str, Any], file: Path_ | None) -> None:
    """Add a run in its place, by seed and by model, and write the file."""
    seeds, names = record["settings"]["seeds"], list(record["models"])
    record["runs"] = sorted(
        [*record["runs"], plain(run)], key=lambda one: (seeds.index(one["seed"]), names.index(one["model"]))
    )
    if file is not None:
        save_record(record, file)
