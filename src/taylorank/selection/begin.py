"""How the record of a comparison begins, goes on from a file, and grows."""

from __future__ import annotations

import hashlib
import os
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

import taylorank
from taylorank.data import Interactions
from taylorank.data.describe import describe
from taylorank.errors import ParameterError
from taylorank.machine import describe_machine
from taylorank.models.training_record import TrainingRecord
from taylorank.ranking.protocols import EvaluationProtocol
from taylorank.selection.contenders import Contender
from taylorank.selection.plan import Plan
from taylorank.selection.record import SCHEMA, VERSION, Record, load_record, plain, save_record

Data = Interactions | tuple[Interactions, Interactions]
Place = str | os.PathLike[str]


def new_record(
    data: Data,
    takers: list[Contender],
    way: EvaluationProtocol,
    plan: Plan,
    seeds: list[int],
    *,
    name: str | None,
    command: str | None,
) -> Record:
    """Return a record without runs."""
    says = " ".join((type(way).__doc__ or "").partition("\n\n")[0].split())
    record = {
        "schema": SCHEMA,
        "version": VERSION,
        "written": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "taylorank": taylorank.__version__,
        "command": command,
        "machine": describe_machine(),
        "data": {"name": name, **asdict(describe(first_part(data)))},
        "protocol": {"name": way.name, "says": says},
        "settings": {
            "metrics": plan.metrics,
            "primary": plan.primary,
            "seeds": seeds,
            "popularity_cutoff": plan.popularity_cutoff,
            "fingerprint": data_fingerprint(data),
        },
        "budget": {"trials": plan.trials, "seconds": plan.seconds},
        "models": {one.name: one.described() for one in takers},
        "runs": [],
        "summary": {"seeds": [], "users": 0, "best": {}, "models": {}},
    }
    found: Record = plain(record)
    return found


def first_part(data: Data) -> Interactions:
    """Return the data, or what of it is for training."""
    return data if isinstance(data, Interactions) else data[0]


def data_fingerprint(data: Data) -> str:
    """Return a short text that differs for different pairs, strengths, ids or times."""
    found = hashlib.sha256()
    for part in [data] if isinstance(data, Interactions) else data:
        found.update(TrainingRecord(part).fingerprint.encode())
        for ids in (part.user_ids, part.item_ids):
            found.update("\n".join(map(str, ids.tolist())).encode())
        found.update(b"" if part.timestamps is None else np.ascontiguousarray(part.timestamps).tobytes())
    return found.hexdigest()[:16]


def resume(record: Record, file: Place | None) -> None:
    """Take over what an earlier run left in the file; one that belongs to another comparison is refused."""
    if file is None or not Path(file).exists():
        return
    old = load_record(file)
    same = ("metrics", "primary", "popularity_cutoff", "fingerprint")
    differs = [key for key in same if old["settings"].get(key) != record["settings"][key]]
    differs += [key for key in ("protocol", "budget") if old.get(key) != record[key]]
    facts = ("cpu", "cores")  # seconds of two machines do not compare
    differs += ["machine"] if any(old["machine"].get(one) != record["machine"][one] for one in facts) else []
    differs += ["seeds"] if not set(old["settings"]["seeds"]) <= set(record["settings"]["seeds"]) else []
    differs += [f"model {one}" for one, facts in old["models"].items() if record["models"].get(one) != facts]
    if differs:
        which = f"{', '.join(differs)} {'differ' if len(differs) > 1 else 'differs'}"
        raise ParameterError(f"{os.fspath(file)} holds another comparison ({which})", "give another file")
    record["runs"] = [run for run in old["runs"] if not run["error"]]
    record["command"] = record["command"] or old["command"]
    record |= {part: old[part] for part in ("written", "machine")}


def has_run(record: Record, name: str, seed: int) -> bool:
    """Return whether the model has been through the seed."""
    return any((run["model"], run["seed"]) == (name, seed) for run in record["runs"])


def keep_run(record: Record, run: dict[str, Any], file: Place | None) -> None:
    """Add a run in its place, by seed and by model, and write the file."""
    seeds, names = record["settings"]["seeds"], list(record["models"])
    record["runs"] = sorted(
        [*record["runs"], plain(run)], key=lambda one: (seeds.index(one["seed"]), names.index(one["model"]))
    )
    if file is not None:
        save_record(record, file)
