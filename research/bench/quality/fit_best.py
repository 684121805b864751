"""`fit_best` within S seconds against four models tuned for longer, on every data set that is here.

Of each user's interactions the last fifth is the test part where times or an order are known, else a random fifth, or
the published test part, without the order of Gowalla's lines, so that all hold back random tenths there. `fit_best` and
the rivals see the rest alone and hold back their own validation data from it in the same way. RG², EASE (of all items
and of few neighbours), iALS and a student of the tuned RG² have `times` · S seconds each, the last fit included. Every
model is measured on the test part once. The loss is against the rival with the highest value on the test part, which
favours the rivals: nobody could have chosen it before. The file keeps each data set as soon as it is done; the same
command goes on from there. Where others use the machine too, `--clock cpu` counts the seconds of the processor over the
number of its cores in the place of those of the clock. `--only` measures one side, so that the rivals may have a faster
machine: the file says which each side had.

    python -m research.bench fit-best --only rivals --times 1 --json out/rivals-ml-1m.json --sets ml-1m
    python -m research.bench fit-best --only fit_best --times 1 --json out/own.json
    python -m research.bench fit-best --join out --times 1 --json research/records/bench/fit_best.json
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

from research.bench.quality.fit_best_rows import rows_of, take_rivals, with_loss
from research.datasets.unordered import unordered_split
from research.output import provenance, write_json
from taylorank.data import Interactions, datasets, planted, share_ids
from taylorank.data.tail import knows_order, split_tail
from taylorank.errors import DataError, ParameterError, TaylorankError, in_one_line
from taylorank.machine import describe_machine
from taylorank.models import EASE, IALS, RG2, Distilled
from taylorank.models.recommender import Recommender
from taylorank.ranking import evaluate
from taylorank.selection import SPACES, Choice, Tuning, fit_best, hold_back, tune
from taylorank.selection.costs import ease_seconds, local_ease_seconds
from taylorank.torch_extra import torch_device

METRIC = "ndcg@10"
TOLERATED = 0.02  # the share of the best value that may be lost
RIVALS = ("RG2", "EASE", "IALS", "Distilled")
STUDENTS = Choice((64, 128, 256))
NEIGHBOURS = Choice((None, 64, 256, 512))  # of EASE
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
    only: Literal["both", "fit_best", "rivals"] = "both",
    join: str = "",
    rivals_of: str = "",
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
    only
        The side to measure.
    join
        A folder with files of other runs, whose rows are taken, and nothing measured.
    rivals_of
        A record whose rivals are taken as they are, however many seconds they had.
    again
        Measure on the sets of the file again what `only` says.
    quick
        Planted data, and seconds that allow little: does it run at all?
    """
    settings: Row = {"seconds": 0.5 if quick else seconds, "times": 2.0 if quick else times, "clock": clock}
    names = ["planted"] if quick else sets.split(",")
    unknown = [name for name in names if name not in CLEANINGS and not quick]
    if unknown:
        raise ParameterError(f"no data set {unknown[0]!r} in this benchmark", f"choose from {', '.join(CLEANINGS)}")
    rows = rows_of(file, settings)
    for other in sorted(Path(join).glob("*.json")) if join else ():
        for name, row in rows_of(other, settings).items():
            rows[name] = with_loss({**rows.get(name, {}), **row})
    if rivals_of:
        settings |= take_rivals(rivals_of, rows, names)
    record: Row = {"benchmark": "fit-best", "metric": METRIC, **settings, "machine": describe_machine(), "sets": rows}

    def keep() -> None:
        if file is not None:
            write_json(file, {**provenance(command), **record})

    sides = ("fit_best", "rivals") if only == "both" else (only,)
    missing = [name for name in names if again or any(side not in rows.get(name, {}) for side in sides)]
    for name, train, test in _present([] if join else missing, parts, log_line):
        wanted = [side for side in sides if again or side not in rows.get(name, {})]
        with _counting(clock):
            found = measure(train, test, settings, sides=wanted, names=rivals.split(","))
        rows[name] = with_loss({**rows.get(name, {}), **found})
        log_line(line_of(name, rows[name]))
        keep()
    if join:
        keep()
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
        train, test = share_ids(*unordered_split(name))
        return train, test
    planted_data = name == "planted"
    data = planted(150, 60, interactions=2500) if planted_data else datasets.get(name, cleaning=CLEANINGS[name])
    parts = split_tail(data, (0.8, 0.2)) if knows_order(data) else data.split((0.8, 0.2), random_state=0)
    return parts[0], parts[1]


def measure(
    train: Interactions, test: Interactions, settings: Row, *, sides: Sequence[str], names: Sequence[str]
) -> Row:
    """Return what `fit_best` and its rivals reach on test data, or one of them, what each took, and on what machine."""
    row: Row = {"data": str(train).split("\n", 1)[0]}
    if "fit_best" in sides:
        began = time.perf_counter()
        model = fit_best(train, seconds=settings["seconds"], metric=METRIC, quiet=True)
        spent = time.perf_counter() - began
        selection = vars(model)["selection_"]
        row["held back"] = selection.held_back
        row["fit_best"] = {"test": _value(model, test), "seconds": round(spent, 1), **selection.to_dict()}
        row["machine of fit_best"] = _machine()
    if "rivals" in sides:
        row["rivals"] = _rivals(train, test, names, seconds=settings["times"] * settings["seconds"])
        row["machine of rivals"] = _machine()
    return row


def _machine() -> str:
    """The cores that this process may use, and the GPU if models are fitted there."""
    on_gpu = torch_device("auto") is not None
    machine = describe_machine()
    cores = f"{len(os.sched_getaffinity(0))} cores of {machine['cpu']}"
    return f"{machine.get('gpu', 'CUDA')}, {cores}" if on_gpu else cores


def _rivals(train: Interactions, test: Interactions, names: Sequence[str], *, seconds: float) -> dict[str, Row]:
    """Tune each rival, fit it to all of train, and measure it."""
    held = hold_back(train)
    parts = held.train, held.valid
    rows: dict[str, Row] = {}
    teacher: Any = RG2(1024)
    for name in names:
        try:
            model: Recommender = {"RG2": RG2(), "EASE": EASE(), "IALS": IALS(), "Distilled": Distilled(teacher)}[name]
            space = {"factors": STUDENTS, **SPACES["distilled"]} if name == "Distilled" else None
            if name == "EASE":
                neighbours = _neighbours(train, seconds)
                space, model = {**SPACES["ease"], "neighbours": neighbours}, EASE(neighbours=neighbours.values[0])
            found = tune(model, *parts, metric=METRIC, seconds=seconds, refit=True, space=space)
            rows[name] = _row(found, test)
        except (TaylorankError, MemoryError) as error:
            rows[name] = {"test": None, "note": in_one_line(error)}
            continue
        if name == "RG2":
            teacher = RG2(**{**RG2().get_params(), **found.best})
    return rows


def _neighbours(train: Interactions, seconds: float) -> Choice:
    """Those of EASE that the seconds pay two fits of."""
    whole = ease_seconds(train, train.nnz, device="auto")
    few = {k: local_ease_seconds(train, k, device="auto") for k in NEIGHBOURS.values if k is not None}
    paid = [k for k in NEIGHBOURS.values if 2 * (whole if k is None else few[k]) <= seconds]
    if not paid:
        raise ParameterError(
            f"a fit takes about {min(few.values()):.0f} s, and another to all data", "give more --seconds"
        )
    return Choice(tuple(paid))


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
    own, rivals = row.get("fit_best"), row.get("rivals", {})
    first = f"{own['chosen']} {own['test']:.4f} in {own['seconds']:.0f} s" if own else "fit_best not measured"
    others = ", ".join(f"{rival} {_shown(one['test'])}" for rival, one in rivals.items())
    loss = "nothing to compare with" if row["loss"] is None else _words(100 * row["loss"])
    return "; ".join(part for part in (f"{name}: {first}", others, loss) if part)


def _words(percent: float) -> str:
    if abs(percent) < 0.05:
        return "level with the best of them"
    if percent < 0:
        return f"{-percent:.1f} % better than the best of them"
    return f"loses {percent:.1f} % to the best of them"


def _shown(value: float | None) -> str:
    return "–" if value is None else f"{value:.4f}"


def describe(record: Row) -> list[str]:
    """Describe the results in words."""
    losses = [row["loss"] for row in record["sets"].values() if row["loss"] is not None]
    kept = sum(loss <= TOLERATED for loss in losses)
    what = ", of the processor over its cores" if record.get("clock") == "cpu" else ""
    theirs = record.get("rivals", {})
    before = f" measured before, of the {theirs['clock']} clock" if theirs else what
    longer = f"{theirs.get('seconds', record['times'] * record['seconds']):g} s for each rival{before}"
    return [
        f"NDCG@10 on test data, fit_best within {record['seconds']:g} s, {longer}",
        *(line_of(name, row) for name, row in record["sets"].items()),
        f"within {100 * TOLERATED:g} % of the best rival, or better, on {kept} of {len(losses)} sets",
    ]
