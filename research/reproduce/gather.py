"""Which of a table's rows have been run: records of comparisons, and what the benchmark of published splits found."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from research.places import HERE, Places
from research.reproduce.tables import GROUPS, Table
from taylorank.report.record import Record, load_record

HELD_BACK = {"at random": "rg2", "groups": GROUPS}


@dataclass(frozen=True)
class Value:
    """A mean over seeds, and half of the 95 % interval over users where values per user are known."""

    mean: float
    half: float | None = None


@dataclass
class Gathered:
    """What was found: model → metric → value.

    `sources` names the file that each model's numbers are from, `records` holds those files, `errors` says why models
    failed, and `refused` why files do not belong to the table.
    """

    values: dict[str, dict[str, Value]] = field(default_factory=dict)
    sources: dict[str, str] = field(default_factory=dict)
    records: dict[str, Record] = field(default_factory=dict)
    errors: dict[str, str] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)

    def take(self, file: str, record: Record) -> None:
        """Take over what a comparison found, and its failures."""
        self.records[file] = record
        self.add(file, of_record(record))
        models = record["summary"]["models"]
        self.errors |= {name: found["error"] for name, found in models.items() if "error" in found}

    def add(self, file: str, values: dict[str, dict[str, Value]]) -> None:
        """Take over the models that are not known yet."""
        for model, of_model in values.items():
            if model not in self.values:
                self.values[model], self.sources[model] = of_model, file

    def by_seed(self, model: str, metric: str) -> dict[int, float]:
        """Return the values of a model on every split that it was run on."""
        record = self.records.get(self.sources.get(model, ""))
        if record is None:
            return {}
        runs = [run for run in record["runs"] if run["model"] == model and not run["error"]]
        return {run["seed"]: run["metrics"][metric] for run in runs if metric in run["metrics"]}

    def gain(self, model: str, reference: str, metric: str) -> float | None:
        """Return by what share one model exceeds another on the splits that both have; None: there is none."""
        own, base = self.by_seed(model, metric), self.by_seed(reference, metric)
        common = own.keys() & base.keys()
        return sum(own[seed] for seed in common) / sum(base[seed] for seed in common) - 1 if common else None


def record_files(table: Table, folder: Path) -> list[Path]:
    """Return the files of a table: NAME.json, then NAME-….json."""
    first = folder / f"{table.name}.json"
    return [*([first] if first.exists() else []), *sorted(folder.glob(f"{table.name}-*.json"))]


def gather(table: Table, places: Places = HERE) -> Gathered:
    """Return what the records say of a table; of a model in several, the one with the most seeds."""
    found = Gathered()
    records = {places.name(path): load_record(path) for path in record_files(table, places.comparisons)}
    for name, record in sorted(records.items(), key=lambda part: -len(part[1]["summary"]["seeds"])):
        reason = misfit(table, record, like=next(iter(records.values())))
        if reason:
            found.refused[name] = reason
        else:
            found.take(name, record)
    benchmark = places.records / "bench" / "public_splits.json"
    if benchmark.exists():
        record = json.loads(benchmark.read_text(encoding="utf-8"))
        found.add(places.name(benchmark), of_benchmark(record, table.dataset))
    return found


def misfit(table: Table, record: Record, *, like: Record) -> str:
    """Return why a record is not of this table; empty if it is."""
    if record["protocol"]["name"] != table.protocol.name:
        return f"protocol {record['protocol']['name']}, not {table.protocol.name}"
    if record["settings"]["fingerprint"] != like["settings"]["fingerprint"]:
        return "other data"
    return ""


def of_record(record: Record) -> dict[str, dict[str, Value]]:
    """Return the values of the models that came to an end."""
    return {
        model: {metric: _value(facts) for metric, facts in found["metrics"].items()}
        for model, found in record["summary"]["models"].items()
        if "metrics" in found
    }


def of_benchmark(record: dict[str, Any], dataset: str) -> dict[str, dict[str, Value]]:
    """Return the two runs of RG² on a published split; one seed, no interval."""
    return {
        HELD_BACK[run["held back"]]: {metric: Value(value) for metric, value in run["test"].items()}
        for run in record["sets"]
        if run["set"] == dataset
    }


def _value(facts: dict[str, Any]) -> Value:
    known = facts["low"] is not None and facts["high"] is not None
    return Value(facts["mean"], (facts["high"] - facts["low"]) / 2 if known else None)
