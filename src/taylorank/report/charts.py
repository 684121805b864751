"""The charts of a report, as Vega-Lite specifications.

Colours are CSS variables (see `series`); widths follow the page. A chart without data is None.
"""

from __future__ import annotations

import importlib
import math
from collections import Counter
from typing import Any

from taylorank.metrics import split_metric
from taylorank.report.numbers import metric_label
from taylorank.report.record import Record
from taylorank.report.series import Series
from taylorank.report.words import label, ranking

HEIGHT = 300
LEAST_SECONDS = 1e-4  # the resolution of the clock; a logarithm needs a number > 0

Spec = dict[str, Any]


def forest(record: Record, series: list[Series]) -> Spec | None:
    """Return means with intervals, one row per model, best on top."""
    alt = _altair()

    metric = record["settings"]["primary"]
    order = ranking(record, metric, bounds=True)
    rows = [
        {"model": label(record, name), **_present(record["summary"]["models"][name]["metrics"][metric])}
        for name in order
    ]
    if not rows:
        return None
    y = alt.Y("model:N", sort=[row["model"] for row in rows], title=None, axis=alt.Axis(grid=False, labelLimit=130))
    base = alt.Chart(_data(rows)).encode(y=y, color=_colour(series), tooltip=_tooltip("model", "mean", "low", "high"))
    x = alt.X("low:Q", title=metric_label(metric), scale=_whole_marks(), axis=alt.Axis(tickCount=5))
    lines = base.mark_rule(strokeWidth=2).encode(x=x, x2="high:Q")
    points = base.mark_point(filled=True, size=90, opacity=1).encode(x="mean:Q", shape=_shape(series))
    return _spec(lines + points, f"{metric_label(metric)} of every model with its interval", height=34 * len(rows))


def trade_off(record: Record, series: list[Series]) -> Spec | None:
    """Return quality against the time of one fit."""
    alt = _altair()

    metric = record["settings"]["primary"]
    rows = []
    for name in ranking(record, metric):
        found = record["summary"]["models"][name]
        if found.get("fit_seconds") is not None:
            time = max(found["fit_seconds"], LEAST_SECONDS)
            rows.append({"model": label(record, name), "seconds": time, **_present(found["metrics"][metric])})
    if not rows:
        return None
    tooltip = _tooltip("model", "seconds", "mean", "low", "high")
    x = _log_x("seconds:Q", "seconds to fit", [row["seconds"] for row in rows])
    base = alt.Chart(_data(rows)).encode(x=x, color=_colour(series), tooltip=tooltip)
    y = alt.Y("low:Q", title=metric_label(metric), scale=_whole_marks())
    lines = base.mark_rule(strokeWidth=1.5).encode(y=y, y2="high:Q")
    points = base.mark_point(filled=True, size=110, opacity=1).encode(y="mean:Q", shape=_shape(series))
    return _spec(lines + points, f"{metric_label(metric)} against seconds to fit")


def convergence(record: Record, series: list[Series], *, against: str) -> Spec | None:
    """Return the validation metric while a model is fitted, against "seconds" or "step"."""
    rows = [
        {"model": label(record, run["model"]), **point, "seconds": max(point["seconds"], LEAST_SECONDS)}
        for run in record["runs"]
        for point in run.get("convergence") or []
    ]
    if against == "step":
        watched = Counter(row["model"] for row in rows)  # a fit in one step has nothing to show on this axis
        rows = [row for row in rows if watched[row["model"]] > 1]
        title = "sweeps, or passes over the data"
    else:
        title = "seconds of fitting"
    if not rows:
        return None
    name = metric_label(record["settings"]["primary"])
    x = _log_x(f"{against}:Q", title, [row[against] for row in rows])
    chart = _lines(rows, series, x, f"{name} on validation data")
    return _spec(chart, f"{name} on validation data against {title}")


def by_cutoff(record: Record, series: list[Series]) -> Spec | None:
    """Return the primary metric at growing cutoffs."""
    rows = [
        {"model": label(record, name), "k": int(k), "value": value}
        for name, found in record["summary"]["models"].items()
        for k, value in found.get("by_cutoff", [])
    ]
    if not rows:
        return None
    name = metric_label(split_metric(record["settings"]["primary"])[0])
    x = _log_x("k:Q", "k, the length of the list", [row["k"] for row in rows])
    return _spec(_lines(rows, series, x, f"{name}@k"), f"{name} against the length of the list")


def by_popularity(record: Record, series: list[Series]) -> Spec | None:
    """Return recall of test items by how popular they are in the training data."""
    alt = _altair()

    rows = [
        {"model": label(record, name), "bucket": part["bucket"], "value": part["recall"]}
        for name, found in record["summary"]["models"].items()
        for part in found.get("by_popularity", [])
        if part["recall"] is not None
    ]
    if not rows:
        return None
    order = list(dict.fromkeys(row["bucket"] for row in rows))
    axis = alt.Axis(labelAngle=0, labelOverlap=False, labelExpr="replace(datum.label, ' %', '')")  # all fit on a phone
    x = alt.X("bucket:O", sort=order, title="items, from the most to the least popular, %", axis=axis)
    cutoff = record["settings"]["popularity_cutoff"]
    return _spec(_lines(rows, series, x, f"Recall@{cutoff}"), f"Recall@{cutoff} by popularity of the item")


def tuning(record: Record, series: list[Series]) -> Spec | None:
    """Return the best validation value found after each trial, for the first seed."""
    first = record["settings"]["seeds"][0] if record["settings"].get("seeds") else None
    rows = []
    for run in record["runs"]:
        trials = (run.get("tuning") or {}).get("trials", [])
        values = [trial["value"] for trial in trials if trial["value"] is not None]
        if run["seed"] == first and len(values) > 1:
            best = [max(values[: i + 1]) for i in range(len(values))]
            rows += [
                {"model": label(record, run["model"]), "trial": i + 1, "value": value} for i, value in enumerate(best)
            ]
    if not rows:
        return None
    name = metric_label(record["settings"]["primary"])
    x = _log_x("trial:Q", "trials", [1, *(row["trial"] for row in rows)])  # two trials and a thousand, side by side
    chart = _lines(rows, series, x, f"best {name} so far", interpolate="step-after")
    return _spec(chart, f"Best {name} on validation data after each trial")


def _altair() -> Any:
    """Return altair, imported when the first chart is drawn; as `Any`, since its generated types do not help here."""
    return importlib.import_module("altair")


def models_in(spec: Spec) -> set[str]:
    """Return the labels of the models that a chart shows, for its legend."""
    return {row["model"] for row in spec["data"]["values"]}


def _lines(rows: list[dict[str, Any]], series: list[Series], x: Any, title: str, *, interpolate: str = "linear") -> Any:
    alt = _altair()

    fields = [str(name) for name in rows[0]]
    base = alt.Chart(_data(rows)).encode(
        x=x,
        y=alt.Y("value:Q", title=title, scale=alt.Scale(zero=False)),
        color=_colour(series),
        tooltip=_tooltip(*fields),
    )
    lines = base.mark_line(strokeWidth=1.8, interpolate=interpolate).encode(strokeDash=_dash(series))
    return lines + base.mark_point(filled=True, size=60, opacity=1).encode(shape=_shape(series))


def _data(rows: list[dict[str, Any]]) -> Any:
    alt = _altair()

    return alt.Data(values=rows)


def _scale(series: list[Series], values: list[Any]) -> Any:
    alt = _altair()

    return alt.Scale(domain=[one.label for one in series], range=values)


def _colour(series: list[Series]) -> Any:
    alt = _altair()

    return alt.Color("model:N", scale=_scale(series, [one.colour for one in series]), legend=None)


def _shape(series: list[Series]) -> Any:
    alt = _altair()

    return alt.Shape("model:N", scale=_scale(series, [one.shape for one in series]), legend=None)


def _dash(series: list[Series]) -> Any:
    alt = _altair()

    return alt.StrokeDash("model:N", scale=_scale(series, [one.dash for one in series]), legend=None)


def _whole_marks() -> Any:
    """A scale with room at its ends, so that no interval and no symbol is cut."""
    return _altair().Scale(zero=False, padding=8)


def _log_x(field: str, title: str, values: list[float]) -> Any:
    alt = _altair()
    axis = alt.Axis(format=",~r", values=log_ticks(min(values), max(values)))
    return alt.X(field, title=title, scale=alt.Scale(type="log", nice=False, padding=12), axis=axis)


def log_ticks(low: float, high: float) -> list[float]:
    """Return round numbers about equally spaced on a log axis: powers of ten, or 1, 2 and 5 times these.

    >>> log_ticks(0.03, 40), log_ticks(1, 16)
    ([0.01, 0.1, 1.0, 10.0, 100.0], [1.0, 2.0, 5.0, 10.0, 20.0])
    """
    steps = (1, 2, 5) if high <= 150 * low else (1,)
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    ticks = [float(f"{step}e{power}") for power in powers for step in steps]
    below = max((i for i, tick in enumerate(ticks) if tick <= low), default=0)
    above = min((i for i, tick in enumerate(ticks) if tick >= high), default=len(ticks))
    return ticks[below : above + 1]


def _tooltip(*fields: str) -> Any:
    alt = _altair()

    return [
        alt.Tooltip(f"{name}:N", title=name)
        if name in ("model", "bucket")
        else alt.Tooltip(f"{name}:Q", title=name, format=",d" if name in ("k", "step", "trial") else ".4~g")
        for name in fields
    ]


def _present(value: dict[str, Any]) -> dict[str, float]:
    """A mean with its interval, which shrinks to the mean where there is none."""
    mean = value["mean"]
    low, high = value.get("low"), value.get("high")
    return {"mean": mean, "low": mean if low is None else low, "high": mean if high is None else high}


def _spec(chart: Any, description: str, *, height: int = HEIGHT) -> Spec:
    ink, muted, rule = "var(--ink)", "var(--muted)", "var(--rule)"
    font = "system-ui, sans-serif"  # a name that the page and the measuring canvas both know
    chart = chart.properties(width="container", height=height, description=description)
    chart = chart.configure(background="transparent", font=font, autosize={"type": "fit-x", "contains": "padding"})
    chart = chart.configure_view(stroke=None).configure_axisY(tickCount=5)
    chart = chart.configure_axis(
        labelColor=muted,
        titleColor=ink,
        gridColor=rule,
        domainColor=muted,
        tickColor=muted,
        labelFontSize=12,
        titleFontSize=12,
        titleFontWeight="normal",
        titlePadding=8,
        gridOpacity=0.6,
        labelOverlap="greedy",
        labelSeparation=6,
    )
    spec: Spec = chart.to_dict()
    return spec
