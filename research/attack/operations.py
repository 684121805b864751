"""What is killed: train, tune, compare, save and export, each with what must hold afterwards.

An operation works in a folder that `start` has filled. After a kill `whole` looks at every file that it may have left:
each is as an undisturbed run leaves it, or as it was before, and what was reported as written is there. When it has
been run again to its end, `result` is that of an undisturbed run, bit for bit but for seconds, memory and dates.
"""

from __future__ import annotations

import hashlib
import importlib
import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import taylorank as tr
from research.attack import Difference
from research.attack.forks import Report
from taylorank.cli.app import main
from taylorank.errors import TaylorankError
from taylorank.models import checkpoint
from taylorank.selection import Choice, Comparison

for _module in ("polars", "optuna", "optuna.pruners", "optuna.samplers"):  # before anything forks
    importlib.import_module(_module)
OF_THE_CLOCK = ("seconds", "peak_memory_bytes", "written", "parts", "load_average", "commit")  # how their names end
TURNS = "abc"  # names of models; of two, the last and the next would be all there are
ROUNDS = 40  # files that `save` and `export` write in turn until they are killed


@dataclass(frozen=True)
class Operation:
    """One thing that writes files; `run` does it in the current folder and reports what it says is written."""

    run: Callable[[Report], object]
    whole: Callable[[dict[str, Any], list[Any]], None]
    result: Callable[[], Any]
    keeps: tuple[str, ...]  # the files that are there at the end, and no others


def start() -> None:
    """Fill the current folder: a log, and three models of different data."""
    tr.planted(60, 30, interactions=600, random_state=0).save_npz("log.npz")
    for seed, name in enumerate(TURNS):
        data = tr.planted(50 + seed, 30, interactions=500, random_state=seed)
        tr.RG2(6, random_state=0).fit(data).save(f"{name}.tr")


def digest(path: str | Path) -> str | None:
    """Return what identifies the bytes of a file, or of all files in a folder; None if there is nothing."""
    place = Path(path)
    if not place.exists():
        return None
    found = hashlib.sha256()
    if place.is_file():
        found.update(_bytes_of(place))
    else:
        for file in sorted(one for one in place.rglob("*") if one.is_file()):
            found.update(file.name.encode() + b"\0" + _bytes_of(file))
    return found.hexdigest()


def _bytes_of(file: Path) -> bytes:
    """Return the content; of an index of usearch, whose threads build another graph each time, what it finds."""
    if not file.name.endswith(".usearch"):
        return file.read_bytes()
    index: Any = importlib.import_module("usearch.index").Index.restore(str(file))
    return bytes(np.sort(np.asarray(index.keys, dtype=np.int64)).tobytes())


def without_clock(value: Any) -> Any:
    """Return a document without what differs from run to run."""
    if isinstance(value, dict):
        return {name: without_clock(part) for name, part in value.items() if not name.endswith(OF_THE_CLOCK)}
    return [without_clock(part) for part in value] if isinstance(value, list) else value


def command(words: str, *outputs: str) -> Callable[[Report], None]:
    """Return what runs a command line and reports its outputs once it has ended."""

    def run(report: Report) -> None:
        checkpoint.SECONDS_BETWEEN = 0.0  # at every step, so that kills meet them
        main(words.split())
        for output in outputs:
            report(output)

    return run


def reported_are_there(reports: list[Any]) -> None:
    """Raise if a file that was reported as written is not there."""
    for name in reports:
        if isinstance(name, str) and not Path(name).exists():
            raise Difference(f"{name} was reported as written and is not there")


def one_of(name: str, allowed: list[Any]) -> None:
    """Raise if a file is not one of these."""
    if digest(name) not in allowed:
        raise Difference(f"{name} is neither as before nor as it should become: {_what_opens(name)}")


def _what_opens(name: str) -> str:
    if not Path(name).exists():
        return "it is gone"
    try:
        tr.load(name)
    except TaylorankError as error:
        return str(error)
    return "it opens"


def train(model: str) -> Operation:
    """`taylorank train` with a checkpoint at every step."""

    def whole(expected: dict[str, Any], reports: list[Any]) -> None:
        reported_are_there(reports)
        one_of("m.tr", [None, expected["m.tr"]])

    words = f"train log.npz --model {model} --factors 6 --checkpoint kept --out m.tr --quiet"
    return Operation(command(words, "m.tr"), whole, lambda: {"m.tr": digest("m.tr")}, ("m.tr",))


def tune(model: str) -> Operation:
    """Tuning with a file of trials; each trial is reported once its line is written."""

    def run(report: Report) -> None:
        train, valid = tr.Interactions.load_npz("log.npz").split((0.8, 0.2), seed=0)
        space = {"factors": Choice((2, 4)), "regularization": Choice((0.01, 0.1))}
        tried = 0

        def count(_: object) -> None:
            nonlocal tried
            tried += 1
            report(tried)

        given: dict[str, Any] = {"trials": 4, "file": "trials.jsonl", "refit": True, "space": space}
        found = tr.tune(model, train, valid, callback=count, **given)
        assert found.model is not None
        found.model.save("m.tr")
        report("m.tr")

    def whole(expected: dict[str, Any], reports: list[Any]) -> None:
        reported_are_there(reports)
        one_of("m.tr", [None, expected["m.tr"]])
        known = trials()
        reported = max([0, *(one for one in reports if isinstance(one, int))])
        if known != expected["trials"][: len(known)] or len(known) < reported:
            raise Difference(f"{len(known)} trials are in the file, {reported} were reported")

    def trials() -> list[Any]:
        place = Path("trials.jsonl")
        lines = place.read_text(encoding="utf-8").split("\n")[:-1] if place.exists() else []
        return [without_clock(json.loads(line)) for line in lines[1:]]

    keeps = ("m.tr", "trials.jsonl")
    return Operation(run, whole, lambda: {"m.tr": digest("m.tr"), "trials": trials()}, keeps)


def compare() -> Operation:
    """A comparison with a file; each run is reported once the file has it."""

    def run(report: Report) -> None:
        def done(progress: Any) -> None:
            if progress.stage == "done":
                report([progress.model, progress.seed])

        data = tr.Interactions.load_npz("log.npz")
        models = {"ials": tr.IALS(4, iterations=3), "popularity": "popularity", "knn": "itemknn"}
        how: dict[str, Any] = {"trials": 2, "seeds": (0, 1), "metrics": ("ndcg@5",), "per_user": True}
        tr.compare(data, models, file="c.json", callback=done, **how)
        report("c.json")

    def whole(_: dict[str, Any], reports: list[Any]) -> None:
        reported_are_there(reports)
        found = Comparison.load("c.json").record["runs"] if Path("c.json").exists() else []
        known = [[run["model"], run["seed"]] for run in found if not run["error"]]
        lost = [one for one in reports if isinstance(one, list) and one not in known]
        if lost:
            raise Difference(f"the run {lost[0]} was reported and is not in the file")

    def result() -> Any:
        found = Comparison.load("c.json")
        values = {f"{model} {seed}": _bits(one) for (model, seed), one in found.per_user.items()}
        return json.loads(json.dumps({"record": without_clock(found.record), "values": values}))

    return Operation(run, whole, result, ("c.json", "c.users.npz"))


def _bits(values: Any) -> str:
    found = hashlib.sha256(values.users.tobytes())
    for metric, column in values.metrics.items():
        found.update(metric.encode() + column.tobytes())
    return found.hexdigest()


def save(kind: str) -> Operation:
    """Files written in turn over one another, each reported once it is written."""

    def run(report: Report) -> None:
        models = {name: tr.load(f"{name}.tr") for name in TURNS}
        for turn in range(ROUNDS):
            name = TURNS[turn % 3]
            if kind == "model":
                models[name].save("out")
            elif kind == "npz":
                models[name].seen.save_npz("out")
            else:
                main(["recommend", f"{name}.tr", "--all", "-n", "4", "--out", "out.parquet", "--quiet"])
                os.replace("out.parquet", "out")
            report([name, digest("out")])

    return Operation(run, _last_or_next, lambda: {"out": digest("out")}, ("out",))


def export(kind: str) -> Operation:
    """Folders exported in turn over one another, each reported once it is written."""

    def run(report: Report) -> None:
        models = {name: tr.load(f"{name}.tr") for name in TURNS}
        for turn in range(ROUNDS if kind == "parquet" else 5):
            name = TURNS[turn % 3]
            models[name].export(kind, "out", overwrite=True, sample=0)
            report([name, digest("out")])

    return Operation(run, _last_or_next, lambda: {"out": digest("out")}, ("out",))


def _last_or_next(expected: dict[str, Any], reports: list[Any]) -> None:
    """Raise unless what is there is the last that was reported, or the one that came after it."""
    contents = dict(expected["reports"])
    if reports:
        one_of("out", [reports[-1][1], contents[_after(reports[-1][0])], contents["a"]])  # run again, it begins with a
    else:
        one_of("out", [None, *contents.values()])


def _after(name: str) -> str:
    return TURNS[(TURNS.index(name) + 1) % len(TURNS)]


OPERATIONS: dict[str, tuple[Operation, ...]] = {
    "train": (train("ials --iterations 6"), train("rg2"), train("rgx --iterations 6 --solver als")),
    "tune": (tune("ials"), tune("rg2")),
    "compare": (compare(),),
    "save": (save("model"), save("npz"), save("lists")),
    "export": (export("parquet"), export("usearch"), export("faiss")),
}
