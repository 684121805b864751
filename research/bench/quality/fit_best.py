"""`fit_best` within S seconds against four models tuned for longer, on every data set that is here.

Of each user's interactions the last fifth is the test part where times or an order are known, else a random fifth, or
the published test part. `fit_best` and the rivals see the rest alone and hold back their own validation data from it in
the same way. RG², EASE, iALS and a student of the tuned RG² have `times` · S seconds each, the last fit included. Every
model is measured on the test part once. The loss is against the rival with the highest value on the test part, which
favours the rivals: nobody could have chosen it before. The file keeps each data set as soon as it is done; the same
command goes on from there. Where others use the machine too, `--clock cpu` counts the seconds of the processor over the
number of its cores in the place of those of the clock, for `fit_best` and the rivals alike.

    python -m research.bench fit-best --json research/records/bench/fit_best.json
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

from research.output import provenance, write_json
from taylorank.data import Interactions, datasets, planted, share_ids
from taylorank.data.tail import knows_order, split_tail
from taylorank.errors import DataError, ParameterError, TaylorankError, in_one_line
from taylorank.machine import describe_machine
from taylorank.models import EASE, IALS, RG2, Distilled
from taylorank.models.recommender import Recommender
from taylorank.ranking import evaluate
from taylorank.selection import SPACES, Choice, Tuning, fit_best, hold_back, tune
from taylorank.selection.costs import ease_seconds

METRIC = "ndcg@10"
TOLERATED = 0.02  # the share of the best value that may be lost
RIVALS = ("RG2", "EASE", "IALS", "Distilled")
STUDENTS = Choice((64, 128, 256))
CLEANINGS = {
    "ml-100k": "paper",
    "ml-1m": "paper",
    "movietweetings": "paper",
    "online-retail": "paper",
    "steam-200k": "paper",
    "wikispeedia-links": "raw",
    "amazon-beauty-bert4rec": "paper",
    "amazon-sports-s3rec": "paper",
    "npm-deps-2016": "5-core",
    "moby-thesaurus": "paper",
    "gowalla": "published",
    "yelp2018": "published",
}
Row = dict[str, Any]


def run(
    *,
    sets: str = ",".join(CLEANINGS),
    seconds: float = 60.0,
    times: float = 10.0,
    rivals: str = ",".join(RIVALS),
    parts: Path | None = None,
    clock: Literal["wall", "cpu"] = "wall",
    again: bool = False,
    quick: bool = False,
    file: Path | None = None,
    command: str = "",
    log_line: Callable[[str], object] = print,
) -> Row:
    """Measure every set that the file lacks.

    Parameters
    ----------
    sets
        Names of data sets, with commas between.
    seconds
        The budget of fit_best.
    times
        How many times as many seconds each rival has.
    rivals
        Who they are, with commas between.
    parts
        A folder with NAME-train.npz and NAME-test.npz in the place of the data sets.
    clock
        What seconds are: of the clock, or of the processor over its cores.
    again
        Measure fit_best again on the sets of the file, beside the rivals that it has.
    quick
        Planted data, and seconds that allow little: does it run at all?
    """
    machine = describe_machine()
    settings: Row = {"seconds": 0.5 if quick else seconds, "times": 2.0 if quick else times, "clock": clock}
    names = ["planted"] if quick else sets.split(",")
    unknown = [name for name in names if name not in CLEANINGS and not quick]
    if unknown:
        raise ParameterError(f"no data set {unknown[0]!r} in this benchmark", f"choose from {', '.join(CLEANINGS)}")
    record: Row = {"benchmark": "fit-best", "metric": METRIC, **settings, "machine": machine, "sets": {}}
    record["sets"] = _kept(file, settings)
    missing = [name for name in names if again or name not in record["sets"]]
    for name, train, test in _present(missing, parts, log_line):
        known = record["sets"].get(name, {}).get("rivals")
        with _counting(clock):
            record["sets"][name] = measure(train, test, settings, names=rivals.split(","), known=known)
        log_line(line_of(name, record["sets"][name]))
        if file is not None:
            write_json(file, {**provenance(command), **record})
    return record


@contextmanager
def _counting(clock: Literal["wall", "cpu"]) -> Iterator[None]:
    """Let every budget count seconds of the processor over its cores, if asked for."""
    if clock == "wall":
        yield
        return
    cores, usual = len(os.sched_getaffinity(0)), time.perf_counter
    time.perf_counter = lambda: time.process_time() / cores  # what budgets and costs are made of
    try:
        yield
    finally:
        time.perf_counter = usual


def _kept(file: Path | None, settings: Row) -> Row:
    """The sets that the file has; one with other settings is refused."""
    if file is None or not file.exists():
        return {}
    earlier = json.loads(file.read_text(encoding="utf-8"))
    for name, value in settings.items():
        if earlier.get(name, "wall") != value:
            raise DataError(f"{file} has {name} {earlier.get(name)}, this run {value}", "give another file")
    sets: Row = earlier["sets"]
    return sets


def _present(
    names: list[str], parts: Path | None, log_line: Callable[[str], object]
) -> Iterator[tuple[str, Interactions, Interactions]]:
    """Yield each set that is on this machine in two parts."""
    for name in names:
        try:
            yield name, *parts_of(name, parts)
        except DataError as error:
            log_line(f"{name}: left out, {in_one_line(error)}")


def parts_of(name: str, folder: Path | None = None) -> tuple[Interactions, Interactions]:
    """Return (train, test), from the two files of a folder if one is given."""
    if folder is not None:
        train, test = (Interactions.load_npz(folder / f"{name}-{part}.npz") for part in ("train", "test"))
        return train, test
    if CLEANINGS.get(name) == "published":
        train, test = share_ids(*datasets.published_split(name))
        return train, test
    planted_data = name == "planted"
    data = planted(150, 60, interactions=2500) if planted_data else datasets.get(name, cleaning=CLEANINGS[name])
    parts = split_tail(data, (0.8, 0.2)) if knows_order(data) else data.split((0.8, 0.2), random_state=0)
    return parts[0], parts[1]


def measure(
    train: Interactions, test: Interactions, settings: Row, *, names: Sequence[str], known: dict[str, Row] | None = None
) -> Row:
    """Return what `fit_best` and its rivals reach on test data, and what each took; rivals that are known stay."""
    began = time.perf_counter()
    model = fit_best(train, seconds=settings["seconds"], metric=METRIC, quiet=True)
    spent = time.perf_counter() - began
    selection = vars(model)["selection_"]
    own = {"test": _value(model, test), "seconds": round(spent, 1), **selection.to_dict()}
    rivals = known or _rivals(train, test, names, seconds=settings["times"] * settings["seconds"])
    best = max((row["test"] for row in rivals.values() if row["test"] is not None), default=None)
    return {
        "data": str(train).split("\n", 1)[0],
        "held back": selection.held_back,
        "fit_best": own,
        "rivals": rivals,
        "loss": None if not best else round(1 - own["test"] / best, 4),
    }


def _rivals(train: Interactions, test: Interactions, names: Sequence[str], *, seconds: float) -> dict[str, Row]:
    """Tune each rival, fit it to all of train, and measure it."""
    held = hold_back(train)
    parts = held.train, held.valid
    rows: dict[str, Row] = {}
    teacher: Any = RG2(1024)
    for name in names:
        try:
            if name == "EASE":
                _check_ease(train, seconds)
            model: Recommender = {"RG2": RG2(), "EASE": EASE(), "IALS": IALS(), "Distilled": Distilled(teacher)}[name]
            space = {"factors": STUDENTS, **SPACES["distilled"]} if name == "Distilled" else None
            found = tune(model, *parts, metric=METRIC, seconds=seconds, refit=True, space=space)
            rows[name] = _row(found, test)
        except (TaylorankError, MemoryError) as error:
            rows[name] = {"test": None, "note": in_one_line(error)}
            continue
        if name == "RG2":
            teacher = RG2(**{**RG2().get_params(), **found.best})
    return rows


def _check_ease(train: Interactions, seconds: float) -> None:
    needed = ease_seconds(train, train.nnz, device="auto")
    if 2 * needed > seconds:
        raise ParameterError(f"a fit takes about {needed:.0f} s, and another to all data", "give more --seconds")


def _row(found: Tuning, test: Interactions) -> Row:
    assert found.model is not None
    return {
        "test": _value(found.model, test),
        "validation": round(found.value, 5),
        "params": found.best,
        "seconds": round(found.seconds, 1),
        "trials": len(found.trials),
    }


def _value(model: Recommender, test: Interactions) -> float:
    return round(evaluate(model, test, metrics=METRIC)[METRIC], 5)


def line_of(name: str, row: Row) -> str:
    """Return a line of the table."""
    own, rivals = row["fit_best"], row["rivals"]
    others = ", ".join(f"{rival} {_shown(one['test'])}" for rival, one in rivals.items())
    loss = "nothing to compare with" if row["loss"] is None else f"loses {100 * row['loss']:.1f} % to the best of them"
    return f"{name}: {own['chosen']} {own['test']:.4f} in {own['seconds']:.0f} s; {others}; {loss}"


def _shown(value: float | None) -> str:
    return "–" if value is None else f"{value:.4f}"


def describe(record: Row) -> list[str]:
    """Describe the results in words."""
    losses = [row["loss"] for row in record["sets"].values() if row["loss"] is not None]
    kept = sum(loss <= TOLERATED for loss in losses)
    what = ", of the processor over its cores" if record.get("clock") == "cpu" else ""
    longer = f"{record['times'] * record['seconds']:g} s for each rival{what}"
    return [
        f"NDCG@10 on test data, fit_best within {record['seconds']:g} s, {longer}",
        *(line_of(name, row) for name, row in record["sets"].items()),
        f"within {100 * TOLERATED:g} % of the best rival, or better, on {kept} of {len(losses)} sets",
    ]
