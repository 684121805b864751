"""Speed, memory and quality by commit, in docs/by-commit.md, from records/bench/commits.json."""

from __future__ import annotations

import itertools
import json
from typing import Any

from research.bench.speed.commits import worse
from research.output import write_text
from research.pages.sections import filled
from research.pages.themed import Spec, svg_of
from research.places import Places

FILE = ("bench", "commits.json")
PICTURE = "by-commit.svg"
DRAWN = f"![Milliseconds of fits, lists and evaluations over commits](pictures/{PICTURE})"


def made(name: str, places: Places) -> str:
    """Return the page with the table, where there is a record."""
    page = (places.docs / f"{name}.md").read_text(encoding="utf-8")
    file = places.records.joinpath(*FILE)
    if not file.exists():
        return page
    return filled(page, lambda _: table(json.loads(file.read_text(encoding="utf-8"))))


def draw(places: Places) -> None:
    """Draw the seconds of every commit."""
    file = places.records.joinpath(*FILE)
    if file.exists():
        spec = chart(json.loads(file.read_text(encoding="utf-8"))["commits"])
        write_text(places.docs / "pictures" / PICTURE, svg_of(spec) + "\n")


def table(record: dict[str, Any]) -> str:
    """Return a column for each commit, oldest first, and what became worse."""
    commits = record["commits"]
    timed, ranked = (dict.fromkeys(name for one in commits for name in one[kind]) for kind in ("seconds", "ndcg@10"))
    rows = [
        _row("", [f"`{one['commit'][:7]}` {one['date'][:10]}" for one in commits]),
        "|---|" + "---:|" * len(commits),
        *(_row(f"{name}, ms", [_shown(one["seconds"].get(name), 1000, ",.4g") for one in commits]) for name in timed),
        _row("peak memory, MB", [f"{one['peak_mb']:.0f}" for one in commits]),
        *(_row(f"NDCG@10, {name}", [_shown(one["ndcg@10"].get(name), 1, ".4f") for one in commits]) for name in ranked),
    ]
    notes = [
        f"- `{one['commit'][:7]}` ({one['words']}): {words}"
        for earlier, one in itertools.pairwise(commits)
        for words in worse(earlier, one)
    ]
    found = (
        ["", "Worse than the commit before it in the table:", "", *notes] if notes else ["", "Nothing became worse."]
    )
    machine = f"{record['machine']['cpu']}, {record['machine']['cores']} cores"
    numbers = "[all numbers](../research/records/bench/commits.json)"
    return "\n".join([DRAWN, "", *rows, *found, "", f"Measured on {machine}; {numbers}.", ""])


def _row(name: str, cells: list[str]) -> str:
    return f"| {name} | {' | '.join(cells)} |"


def _shown(value: float | None, times: float, form: str) -> str:
    if value is None:
        return ""
    return f"{times * value:,.0f}" if times * value >= 1000 else format(times * value, form)


def chart(commits: list[dict[str, Any]]) -> Spec:
    """Return seconds over the commits, a line for each thing that is timed."""
    rows = [
        {"commit": f"{one['date'][5:10]} {one['commit'][:7]}", "what": what, "ms": 1000 * value}
        for one in commits
        for what, value in one["seconds"].items()
    ]
    order = list(dict.fromkeys(row["commit"] for row in rows))
    legend = {"title": None, "orient": "bottom", "columns": 2}
    return {
        "data": {"values": rows},
        "mark": {"type": "line", "point": True},
        "width": 470,
        "height": 280,
        "encoding": {
            "x": {"field": "commit", "type": "ordinal", "sort": order, "title": None, "axis": {"labelAngle": -25}},
            "y": {"field": "ms", "type": "quantitative", "title": "ms, log scale", "scale": {"type": "log"}},
            "color": {"field": "what", "type": "nominal", "legend": legend},
        },
    }
