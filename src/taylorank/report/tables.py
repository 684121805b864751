"""The tables of a report, cell by cell."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from taylorank.metrics import split_metric
from taylorank.report.numbers import MISSING, and_list, any_value, memory, metric_label, p_value, quality, seconds
from taylorank.report.record import Record
from taylorank.report.series import Series
from taylorank.report.words import adjusted_p, is_worse, label, margin, methods_used, ranking


@dataclass(frozen=True)
class Cell:
    """A cell: its text, a small note behind it, and how it is formatted."""

    text: str
    small: str = ""
    mark: str = ""
    is_best: bool = False
    is_word: bool = False
    span: int = 1
    series: Series | None = None


@dataclass(frozen=True)
class Table:
    """A caption, the heads of the columns, and the rows; the first cell of a row is its head."""

    caption: str
    head: list[str]
    rows: list[list[Cell]] = field(default_factory=list)

    @property
    def words(self) -> set[str]:
        """The heads of the columns that hold words, which are aligned left."""
        return {name for row in self.rows for name, cell in zip(self.head, row, strict=False) if cell.is_word}


NOT_TESTED = "not tested"
COSTS = {
    "Fit": ("fit_seconds", seconds),
    "Tuning": ("tuning_seconds", seconds),
    "Memory": ("peak_memory_bytes", memory),
}


def summary_table(record: Record, series: list[Series]) -> Table:
    """Return all models with all metrics and known costs, best first; failed ones last, with their error."""
    metrics, models = record["settings"]["metrics"], record["summary"]["models"]
    looks = {one.name: one for one in series}
    order = ranking(record, record["settings"]["primary"], bounds=True)
    order.sort(key=lambda name: bool(record["models"][name].get("is_bound")))
    best = {metric: _best_of(record, metric) for metric in metrics}
    costs = [cost for cost, (key, _) in COSTS.items() if any(models[name].get(key) is not None for name in order)]
    rows = []
    for name in [*order, *(name for name in record["models"] if name not in order)]:
        head, found = Cell(label(record, name), series=looks[name]), models.get(name, {})
        if name not in order:
            rows.append([head, Cell(_why(found), is_word=True, span=len(metrics) + len(costs))])
            continue
        values = [_metric_cell(record, name, metric, is_best=name in best[metric]) for metric in metrics]
        spent = [Cell(COSTS[cost][1](found.get(COSTS[cost][0]))) for cost in costs]
        rows.append([head, *values, *spent])
    return Table(_means_of(record), ["Model", *map(metric_label, metrics), *costs], rows)


def _best_of(record: Record, metric: str) -> list[str]:
    """Return the best, and all that show the same number."""
    order = ranking(record, metric)
    shown = {name: quality(record["summary"]["models"][name]["metrics"][metric]["mean"]) for name in order}
    return [name for name in order if shown[name] == shown[order[0]]]


def _means_of(record: Record) -> str:
    seeds, users = len(record["settings"].get("seeds", [])), record["summary"].get("users")
    over = [f"{seeds} seeds"] * (seeds > 1) + [f"{users:,} users"] * bool(users)
    return f"Means over {and_list(over)}" if over else "Means"


def significance_table(record: Record) -> Table:
    """Return every model against the best, for every metric."""
    rows = []
    for metric in record["settings"]["metrics"]:
        order = ranking(record, metric)
        for name in order[1:]:
            found = record["summary"]["models"][name].get("versus_best", {}).get(metric)
            if found is None:
                continue
            interval = MISSING
            if found["low"] is not None:
                interval = f"{_signed(found['low'])} to {_signed(found['high'])}"
            pair = f"{label(record, name)} − {label(record, order[0])}"
            p = [NOT_TESTED if found["p"] is None else p_value(found["p"]), p_value(adjusted_p(found))]
            rows.append([Cell(metric_label(metric)), Cell(pair, is_word=True)])
            rows[-1] += [Cell(text) for text in (_signed(found["difference"]), interval, *p)]
    adjusted = "p (Holm)" if methods_used(record) == ["p_holm"] else "p (adjusted)"
    head = ["Metric", "Difference of", "Mean", "95 % interval", "p", adjusted]
    return Table("Everything against the best, paired over users", head, rows)


def cutoff_table(record: Record) -> Table:
    """Return the primary metric at every cutoff."""
    found = _having(record, "by_cutoff")
    ks = list(dict.fromkeys(k for values in found.values() for k, _ in values))
    rows = [
        [Cell(label(record, name)), *(Cell(quality(dict(values).get(k))) for k in ks)] for name, values in found.items()
    ]
    name = metric_label(split_metric(record["settings"]["primary"])[0])
    return Table(f"{name} at k", ["Model", *(f"@{k:,}" for k in ks)], rows)


def popularity_table(record: Record) -> Table:
    """Return recall by popularity of the items, and what the groups hold."""
    found = _having(record, "by_popularity")
    buckets = next(iter(found.values()), [])
    rows = [
        [Cell(label(record, name)), *(Cell(quality(part["recall"])) for part in parts)] for name, parts in found.items()
    ]
    if buckets:
        rows.append([Cell("Items in the group"), *(Cell(any_value(part["items"])) for part in buckets)])
        rows.append([Cell("Test interactions"), *(Cell(any_value(part["interactions"])) for part in buckets)])
    cutoff = record["settings"].get("popularity_cutoff", "")
    return Table(f"Recall@{cutoff} by popularity", ["Model", *(part["bucket"] for part in buckets)], rows)


def convergence_table(record: Record) -> Table:
    """Return the validation metric after every measured step."""
    rows = []
    for run in record["runs"]:
        points = run.get("convergence") or []
        for at in points:
            step = MISSING if len(points) == 1 else any_value(at["step"])  # fitted in one step
            rows.append([Cell(label(record, run["model"])), Cell(step)])
            rows[-1] += [Cell(seconds(at["seconds"])), Cell(quality(at["value"]))]
    name = metric_label(record["settings"]["primary"])
    return Table("Convergence on validation data", ["Model", "Step", "Time", name], rows)


def parameters_table(record: Record) -> Table:
    """Return what tuning chose, run by run; models that are not tuned are left out."""
    rows = []
    for run in record["runs"]:
        tuning = run.get("tuning") or {}
        if not (tuning or run.get("params") or run.get("error")):
            continue
        cells = [
            Cell(label(record, run["model"])),
            Cell(str(run["seed"])),
            Cell(run.get("error") or _settings(run.get("params", {})), is_word=True),
            Cell(quality(tuning.get("value"))),
            Cell(_tries(tuning)),
            Cell(seconds(tuning.get("seconds"))),
        ]
        rows.append(cells)
    head = ["Model", "Seed", "Parameters", "Validation", "Tried", "Time"]
    return Table("What tuning chose", head, rows)


def trials_table(record: Record, name: str) -> Table:
    """Return every trial of one model."""
    rows = []
    for run in record["runs"]:
        if run["model"] != name:
            continue
        for number, trial in enumerate((run.get("tuning") or {}).get("trials", []), start=1):
            note = trial.get("note") or ("" if trial.get("status") == "complete" else str(trial.get("status", "")))
            rows.append([Cell(str(run["seed"])), Cell(f"{number:,}"), Cell(_settings(trial["params"]), is_word=True)])
            rows[-1] += [Cell(quality(trial["value"])), Cell(seconds(trial["seconds"])), Cell(note, is_word=True)]
    return Table(
        f"Trials of {label(record, name)}", ["Seed", "Trial", "Parameters", "Validation", "Time", "Note"], rows
    )


def runs_table(record: Record) -> Table:
    """Return every run with all its numbers."""
    metrics = record["settings"]["metrics"]
    rows = []
    for run in record["runs"]:
        head = [Cell(label(record, run["model"])), Cell(str(run["seed"]))]
        if run.get("error"):
            rows.append([*head, Cell(run["error"], is_word=True, span=len(metrics) + 3)])
            continue
        values = [Cell(quality(run["metrics"].get(metric))) for metric in metrics]
        costs = [seconds(run.get("fit_seconds")), seconds(run.get("evaluate_seconds"))]
        rows.append([*head, *values, *map(Cell, costs), Cell(memory(run.get("peak_memory_bytes")))])
    columns = ["Model", "Seed", *map(metric_label, metrics), "Fit", "Evaluation", "Memory"]
    return Table("Every run", columns, rows)


def _metric_cell(record: Record, name: str, metric: str, *, is_best: bool) -> Cell:
    value = record["summary"]["models"][name]["metrics"].get(metric)
    if value is None:
        return Cell(MISSING)
    half = margin(value)
    mark = "†" if is_worse(record, name, metric) else ""
    return Cell(quality(value["mean"]), "" if half is None else f"± {half:.4f}", mark, is_best)


def _why(found: dict[str, Any]) -> str:
    return str(found.get("error") or "not run")


def _having(record: Record, part: str) -> dict[str, list[Any]]:
    models = record["summary"]["models"]
    return {name: models[name][part] for name in record["models"] if models.get(name, {}).get(part)}


def _signed(value: float) -> str:
    return f"{value:+.4f}".replace("-", "−")


def _tries(tuning: dict[str, Any]) -> str:
    """How many settings were judged, and on how many fits if one fit served several."""
    if not tuning:
        return MISSING
    fits = len({trial.get("fit", number) for number, trial in enumerate(tuning["trials"])})
    settings = len(tuning["trials"])
    return f"{settings:,}" if fits == settings else f"{settings:,} on {fits:,} fit{'s' * (fits != 1)}"


def _settings(params: dict[str, Any]) -> str:
    return ", ".join(f"{name} {any_value(value)}" for name, value in params.items()) or MISSING
