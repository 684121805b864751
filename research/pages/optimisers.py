"""The studies of optimisers, in docs/optimisers.md, and its figures.

A section links to what it is about, `[record](FILE.json)` of `bench convergence`, `rg-step`, `towers` or a comparison;
what follows the line `<!-- found -->` is made here. A record of convergence also becomes a figure of the same name.
"""

from __future__ import annotations

import json
import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from research.bench.optimisers.convergence import NAMES
from research.output import write_text
from research.pages.comparisons import LINK, found
from research.pages.sections import filled
from research.pages.tables import folded
from research.pages.themed import svg_of
from research.places import Places
from taylorank.report.record import load_record

# What the papers say of RG² by each optimiser (Pu et al. 2025, Table 2).
PAPERS = {"RG², ALS": "linear", "RG², row ALS": "linear", "RG², Newton-CG": "superlinear", "RG², Adam": "sublinear"}
# One for each of NAMES, to be seen on white and on black.
COLOURS = (
    *("#1f77b4", "#ff7f0e", "#d62728", "#a66ad0", "#2ca02c", "#17a2b8", "#8c564b"),
    *("#e377c2", "#8a979a", "#9a9b1d", "#6b7cff", "#d1557c", "#7ba03f", "#ff5c8a"),
)
Record = dict[str, Any]


def made(name: str, places: Places) -> str:
    """Return the page with what the records say."""

    def content(section: str) -> str | None:
        link = LINK.search(section)
        return None if link is None else _text_of_record(places.docs / link[1])

    return filled((places.docs / f"{name}.md").read_text(encoding="utf-8"), content)


def _text_of_record(file: Path) -> str:
    record = json.loads(file.read_text(encoding="utf-8"))
    if "benchmark" not in record:
        return found(load_record(file))
    text_of = {"convergence": convergence_text, "rg-step": steps_text, "towers": towers_text}[record["benchmark"]]
    commands = "\n".join(f"    {line}" for line in record["command"].splitlines())
    return f"{text_of(record)}\n\n{folded(commands, 'The command')}\n"


def convergence_text(record: Record) -> str:
    """Return two tables: the optimisers of RG², and the best metric of every curve; medians over the seeds."""
    curves = by_name(record)
    same = [name for name, found_ in curves.items() if "convergence" in found_[0]]
    shares = list(curves[same[0]][0]["seconds_to"])
    head = ["RG² by", *(f"seconds to {share}" for share in shares), "last excess", "rate", "order"]
    rows = [_optimiser_row(name, curves[name], shares) for name in same]
    tops = sorted(((_top(found_), name) for name, found_ in curves.items()), reverse=True)
    lines = [
        _table([*head, "law, measured", "law, papers"], rows),
        "",
        "Excess: (L − L*) / (L(0) − L*). Rate: the last ratios of excesses, from one iteration to the next.",
        "",
        _table(
            [
                "",
                "splits",
                f"best {record['settings']['metric']} on validation data",
                "after seconds",
                "within 1 % after",
            ],
            [
                [name, str(len(curves[name])), f"{value:.4f}", _seconds(when), _seconds(near)]
                for (value, when, near), name in tops
            ],
        ),
        "",
        f"Medians over the splits; {record['machine']['cpu']}, {record['machine']['kernels']}.",
    ]
    return "\n".join(lines)


def by_name(record: Record) -> dict[str, list[Record]]:
    """Return the curves of each name, of all splits that have one, in the order of the study."""
    names = [name for name in NAMES if any(name in run["curves"] for run in record["runs"])]
    return {name: [run["curves"][name] for run in record["runs"] if name in run["curves"]] for name in names}


def _optimiser_row(name: str, found_: Sequence[Record], shares: list[str]) -> list[str]:
    laws = [one["convergence"] for one in found_]
    times = [_seconds(_median([one["seconds_to"][share] for one in found_])) for share in shares]
    excess = f"{statistics.median(law['last_excess'] for law in laws):.0e}"
    if name not in PAPERS:  # points that are no iterations of one run
        return [name, *times, excess, "–", "–", "–", "–"]
    rate, order = (_median([law[part] for law in laws]) for part in ("rate", "order"))
    kinds = " or ".join(sorted({law["kind"] for law in laws}))
    return [name, *times, excess, _number(rate), _number(order), kinds, PAPERS[name]]


def _top(found_: Sequence[Record]) -> tuple[float, float, float]:
    """Return the medians of the best metric, of the seconds until it, and until 99 % of it."""
    peaks = []
    for one in found_:
        points = [(point["metric"], point["seconds"]) for point in one["points"] if point["metric"] is not None]
        best = max(value for value, _ in points)
        peaks.append((best, *(next(s for value, s in points if value >= share * best) for share in (1, 0.99))))
    value, when, near = (statistics.median(part) for part in zip(*peaks, strict=True))
    return value, when, near


def steps_text(record: Record) -> str:
    """Return a table of seconds and memory by kind and number of items."""
    kinds = list(dict.fromkeys(row["kind"] for row in record["rows"]))
    counts = list(dict.fromkeys(row["items"] for row in record["rows"]))
    cells = {(row["items"], row["kind"]): _step(row) for row in record["rows"]}
    rows = [[f"{count:,}", *(cells.get((count, kind), "left out") for kind in kinds)] for count in counts]
    return "\n".join(
        [
            _table(["items", *kinds], rows),
            "",
            f"Forward and backward, {record['queries']} queries with {record['positives']:,} positives in all, "
            f"K = {record['factors']}, {record['draws']} draws, on {record['device']}.",
        ]
    )


def towers_text(record: Record) -> str:
    """Return a table of the loss after some epochs, by activation and optimiser."""
    after = list(dict.fromkeys(count for row in record["rows"] for count in row["losses"]))
    rows = [
        [
            f"{row['activation']}, {row['optimizer']}",
            *(f"{row['losses'][count]:.4f}" if count in row["losses"] else "–" for count in after),
            f"{row['seconds']:.0f}",
        ]
        for row in record["rows"]
    ]
    sizes = record["data"]
    return "\n".join(
        [
            _table(["loss after epochs", *after, "seconds in all"], rows),
            "",
            f"{sizes['users']:,} × {sizes['items']:,}, {sizes['interactions']:,} interactions, 32 features; "
            "an epoch of newton is one iteration, one of adam 16 steps.",
        ]
    )


def _step(row: Record) -> str:
    if row["seconds"] is None:
        return "out of memory"
    memory = "" if row["bytes"] is None else f", {row['bytes'] / 2**20:,.0f} MiB"
    return f"{1000 * row['seconds']:.1f} ms{memory}"


def _median(values: Sequence[float | None]) -> float | None:
    """Return the median; None if half of them are None."""
    known = [value for value in values if value is not None]
    return statistics.median(known) if 2 * len(known) > len(values) else None


def _seconds(value: float | None) -> str:
    return "never" if value is None else f"{value:.2f}" if value < 10 else f"{value:.0f}"


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.2g}" if value < 0.9 else f"{value:.3f}"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---", *["---:"] * (len(head) - 1)], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def figure(record: Record) -> Record:
    """Return a Vega-Lite specification: the excess of RG², and the metric of every curve, against seconds."""
    import altair as alt

    points = [
        {"name": name, "seed": run["seed"], "seconds": point["seconds"], "metric": point["metric"], "excess": excess}
        for run in record["runs"]
        for name, one in run["curves"].items()
        for point in one["points"]
        for excess in [_excess(run, one, point)]
        if point["seconds"] > 0
    ]
    curves = by_name(record)
    names = list(curves)
    same = [name for name in names if "convergence" in curves[name][0]]
    x = alt.X("seconds:Q", scale=alt.Scale(type="log", nice=False), title="seconds", axis=alt.Axis(format="~g"))

    def panel(field: str, title: str, shown: list[str], y: Any) -> Any:
        values = [point for point in points if point[field] is not None and point["name"] in shown]
        legend = alt.Legend(orient="bottom", columns=2, symbolSize=400)
        scale = alt.Scale(domain=list(NAMES), range=list(COLOURS))  # a name has one colour in all figures
        colour = alt.Color("name:N", title=None, scale=scale, legend=legend)
        dash = alt.StrokeDash("name:N", title=None, scale=alt.Scale(domain=list(NAMES)), legend=legend)
        chart = alt.Chart({"values": values}).mark_line(opacity=0.8, strokeWidth=1.5)
        encoded = chart.encode(x=x, y=y, color=colour, strokeDash=dash, detail="seed:N")
        return encoded.properties(title=title, width=420, height=300)

    log = alt.Y("excess:Q", scale=alt.Scale(type="log"), title=None, axis=alt.Axis(format="~e", tickCount=6))
    linear = alt.Y("metric:Q", title=None, scale=alt.Scale(zero=False))
    left = panel("excess", "RG²: (L − L*) / (L(0) − L*)", same, log)
    right = panel("metric", f"{record['settings']['metric']} on validation data", names, linear)
    spec: Record = alt.hconcat(left, right).properties(title=f"{record['data']['name']}, every split a line").to_dict()
    return spec


def _excess(run: Record, one: Record, point: Record) -> float | None:
    """Return the share of the way that is left; None where it is another loss, or less than rounding."""
    if "convergence" not in one:
        return None
    value = (point["loss"] - run["best"]) / (run["zero"] - run["best"])
    return value if value > 1e-11 else None


def draw(places: Places) -> None:
    """Draw every study of convergence."""
    for file in sorted((places.records / "optimisers").glob("convergence-*.json")):
        drawn = svg_of(figure(json.loads(file.read_text(encoding="utf-8"))))
        write_text(places.docs / "optimisers" / f"{file.stem}.svg", drawn)
