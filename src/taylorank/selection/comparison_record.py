"""The record of a comparison: begun, taken up again from a file, and run by run filled."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

import numpy as np

import taylorank
from taylorank.data import Interactions
from taylorank.data.describe import describe
from taylorank.errors import ParameterError, shown
from taylorank.machine import describe_machine, source_commit
from taylorank.models.parameters import OF_THE_MACHINE
from taylorank.models.training_record import TrainingRecord
from taylorank.output import path_of
from taylorank.ranking.protocols import EvaluationProtocol
from taylorank.report.record import SCHEMA, VERSION, Record, as_it_was_written, plain
from taylorank.selection.comparison import Comparison
from taylorank.selection.contenders import Contender
from taylorank.selection.one_run import POPULARITY_CUTOFF, Plan, Run
from taylorank.selection.per_user import PerUser, Place, load_per_user, running_path

Data = Interactions | tuple[Interactions, Interactions]


def new_record(
    data: Data,
    entries: list[Contender],
    evaluation: EvaluationProtocol,
    plan: Plan,
    seeds: list[int],
    *,
    name: str | None,
    command: str | None,
) -> Record:
    """Return a record without runs."""
    commit = source_commit()
    record: Record = plain(
        {
            "schema": SCHEMA,
            "version": VERSION,
            "written": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "taylorank": taylorank.__version__,
            **({} if commit is None else {"commit": commit}),
            "command": command,
            "machine": describe_machine(),
            "data": {"name": name, **asdict(describe(training_part(data)))},
            "protocol": {
                "name": evaluation.name,
                "says": " ".join((type(evaluation).__doc__ or "").partition("\n\n")[0].split()),
            },
            "settings": {
                "metrics": plan.metrics,
                "primary": plan.primary,
                "seeds": seeds,
                "popularity_cutoff": POPULARITY_CUTOFF,
                "fingerprint": data_fingerprint(data),
            },
            "budget": {"trials": plan.trials, "seconds": plan.seconds},
            "models": {one.name: one.described() for one in entries},
            "runs": [],
            "summary": {"seeds": [], "users": 0, "best": {}, "models": {}},
        }
    )
    return record


def training_part(data: Data) -> Interactions:
    """Return the data, or the first of the two parts of a published split."""
    parts = (data,) if isinstance(data, Interactions) else data
    if not isinstance(parts, tuple | list) or not parts or not isinstance(parts[0], Interactions):
        raise ParameterError(f"data={shown(data)} is no data", "give Interactions, or a pair: training and test data")
    return parts[0]


def data_fingerprint(data: Data) -> str:
    """Return a short text that differs for different pairs, strengths, ids or times."""
    found = hashlib.sha256()
    for part in [data] if isinstance(data, Interactions) else data:
        found.update(TrainingRecord(part).fingerprint.encode())
        for ids in (part.user_ids, part.item_ids):
            found.update("\n".join(map(str, ids.tolist())).encode())
        found.update(b"" if part.timestamps is None else np.ascontiguousarray(part.timestamps).tobytes())
    return found.hexdigest()[:16]


def _same_model(old: Mapping[str, Any], new: Mapping[str, Any] | None) -> bool:
    """Whether a model of a record is the one of now; a parameter that it did not have yet does not count."""
    if new is None or {**old, "params": None} != {**new, "params": None}:
        return False
    params = {name: value for name, value in old["params"].items() if name not in OF_THE_MACHINE}
    return all(new["params"].get(name) == value for name, value in params.items())


def resumed(record: Record, file: Place | None) -> PerUser:
    """Take over what an earlier run left in the file, each user's values too if they are still there.

    A file that belongs to another comparison is refused. The earlier summary stays until there is a new one.
    """
    if file is None or not path_of(file).exists():
        return {}
    with as_it_was_written(file):
        return _taken_over(record, file)


def _taken_over(record: Record, file: Place) -> PerUser:
    found = Comparison.load(file)
    old = found.record
    same = ("metrics", "primary", "popularity_cutoff", "fingerprint")
    differs = [key for key in same if old["settings"].get(key) != record["settings"][key]]
    differs += [key for key in ("protocol", "budget") if old.get(key) != record[key]]
    facts = ("cpu", "cores")  # seconds of two machines do not compare
    differs += ["machine"] if any(old["machine"].get(one) != record["machine"][one] for one in facts) else []
    differs += ["seeds"] if not set(old["settings"]["seeds"]) <= set(record["settings"]["seeds"]) else []
    differs += [
        f"model {one}" for one, facts in old["models"].items() if not _same_model(facts, record["models"].get(one))
    ]
    places = {(model, seed) for model in record["models"] for seed in record["settings"]["seeds"]}
    differs += ["a run"] if not {(run["model"], run["seed"]) for run in old["runs"]} <= places else []
    if differs:
        which = f"{', '.join(differs)} {'differ' if len(differs) > 1 else 'differs'}"
        raise ParameterError(f"{os.fspath(file)} holds another comparison ({which})", "give another file")
    commits = [one["commit"] for one in (old, record) if "commit" in one]
    record |= {"commit": ", ".join(dict.fromkeys(commits))} if commits else {}
    record["runs"] = [run for run in old["runs"] if not run["error"]]
    record["command"] = record["command"] or old["command"]
    record |= {part: old[part] for part in ("written", "machine", "summary", "notes") if part in old}
    return load_per_user(running_path(file), old) or found.per_user


def has_run(record: Record, name: str, seed: int) -> bool:
    """Whether the record has the run of a model on a seed."""
    return any((run["model"], run["seed"]) == (name, seed) for run in record["runs"])


def add_run(record: Record, run: Run) -> None:
    """Add a run in its place, by seed and by model."""
    seeds, names = record["settings"]["seeds"], list(record["models"])
    record["runs"] = sorted(
        [*record["runs"], run], key=lambda one: (seeds.index(one["seed"]), names.index(one["model"]))
    )
