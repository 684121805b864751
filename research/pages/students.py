"""The study of students, in docs/students.md, and its figure.

A section names its stage in the line `<!-- stage: NAME -->`; what follows its line `<!-- found -->` is made here from
research/records/students.
"""

from __future__ import annotations

import importlib.util
import json
import re
import statistics
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from research.bench.quality.public_splits import PUBLISHED
from research.output import write_text
from research.pages import benchmarks
from research.pages.dense_students import dense_text
from research.pages.sections import filled
from research.pages.tables import folded
from research.pages.themed import INK, svg_of
from research.places import Places

Row = dict[str, Any]
STAGE = re.compile(r"<!-- stage: (\S+) -->")
SHOWN = ("recall@20", "ndcg@20")
NAMED = {"rg2": "RG², chosen for itself", "teacher": "RG², the teacher chosen with the student"}
# Numbers that a published model serves for each item: embeddings of 64, as the leaderboard sets them.
PUBLISHED_WIDTH = 64
SPECTRAL = ("EASE", "GF-CF", "ChebyCF")  # a row of a matrix for each item, no short vector


def made(name: str, places: Places) -> str:
    """Return the page with what the records say."""
    record, ranges = (_load(places, file) for file in ("students", "ranges"))

    def content(section: str) -> str | None:
        stage = STAGE.search(section)
        if stage is None or record is None:
            return None
        return ranges_text(ranges) if stage[1] == "ranges" and ranges else TEXTS[stage[1]](record["parts"])

    file = places.docs / f"{name}.md"
    return benchmarks.filled(filled(file.read_text(encoding="utf-8"), content), file, places)


def _load(places: Places, name: str) -> Row | None:
    file = places.records / "students" / f"{name}.json"
    loaded: Row | None = json.loads(file.read_text(encoding="utf-8")) if file.exists() else None
    return loaded


def ranges_text(fixed: Row) -> str:
    """Return the ranges, and on how many sets each value was good."""
    rows = []
    for name, values in fixed["ranges"].items():
        counts = ", ".join(f"{value}: {len(sets)}" for value, sets in fixed["good_on"][name].items())
        rows.append([f"`{name}`", ", ".join(str(value) for value in values), counts])
    sets, rule = ", ".join(fixed["sets"]), fixed["rule"].removeprefix("Return for each parameter ").capitalize()
    head = ["parameter", "range for the public sets", "value: sets on which it was good"]
    return f"{_table(head, rows)}\n\n{rule} The sets: {sets}.\n"


def public_text(parts: Mapping[str, Row]) -> str:
    """Return a table of both public sets beside what others published, and what was chosen."""
    found = {name: _of(parts, "public", name) for name in PUBLISHED}
    models = [
        m for m in ("rg2", "teacher", "student 64", "student 128") if any(m in _models(f) for f in found.values())
    ]
    rows = [[f"**{_name(model)}**", *(_cell(found[name], model) for name in PUBLISHED)] for model in models]
    others = sorted({m for rows_ in PUBLISHED.values() for m in rows_}, key=lambda m: -PUBLISHED["gowalla"][m][1])
    rows += [[other, *(_published(name, other) for name in PUBLISHED)] for other in others]
    lines = [_table(["Recall@20 / NDCG@20", *(name.capitalize() for name in PUBLISHED)], rows), ""]
    chosen = "\n".join(_chosen(name, found[name]) for name in PUBLISHED if found[name])
    return "\n".join([*lines, folded(chosen, "What was chosen")]) + "\n"


def _chosen(name: str, runs: list[Row]) -> str:
    first = runs[0]
    own = first["models"].get("student 64", {}).get("settings", {})  # the temperature was chosen once more
    chosen = {key: own.get(key, value) for key, value in first["best"].items() if key != "value"}
    best = ", ".join(f"{key.replace('teacher__', 'teacher ')} {value}" for key, value in chosen.items())
    tried = len([trial for trial in first["trials"] if trial["factors"] == 64])
    words = f"{name.capitalize()}: validation data {first['held_back']}, {tried} students tried at K = 64"
    return f"- {words}. Chosen: {best}."


def others_text(parts: Mapping[str, Row]) -> str:
    """Return NDCG@10 and @20 of the models on every other set."""
    names = list(dict.fromkeys(key.split("/")[1] for key in parts if key.startswith("others/")))
    models = ("student 64", "rg2", "ease", "ials")
    rows = []
    for name in names:
        runs = [run for run in _of(parts, "others", name) if run.get("models")]
        if runs:
            rows.append([name, runs[0]["held_back"], str(len(runs)), *_bold([_mean_of(runs, m) for m in models])])
    return _table(["set", "test part", "runs", "student, 64", "RG²", "EASE", "iALS"], rows) + "\n"


def per_byte_text(parts: Mapping[str, Row]) -> str:
    """Return the figure and its numbers."""
    rows = []
    every = {name: _every_width(parts, name) for name in PUBLISHED}
    for kind in KINDS:
        for width in WIDTHS:
            model = f"{kind} {width}"
            having = [found["models"][model] for found in every.values() if model in found["models"]]
            if not having:
                continue  # not measured
            size = " or ".join(f"{4 * one}" for one in sorted({numbers_an_item(model, row) for row in having}))
            cells = [_cell([found], model) for found in every.values()]
            rows.append([KINDS[kind], str(width), size, *cells])
    table = _table(["", "K", "bytes an item", *(name.capitalize() for name in PUBLISHED)], rows)
    return f"![Quality against the numbers served for each item](students/per-byte.svg)\n\n{table}\n"


def numbers_an_item(model: str, row: Row) -> int:
    """Return how many numbers `export_factors` gives an item: K, a student's bias, and q_y of RG² for probabilities."""
    kind, _, width = model.partition(" ")
    return int(width) + (bool(row["settings"]["bias"]) if kind == "student" else 1)


def times_text(parts: Mapping[str, Row]) -> str:
    """Return the seconds of fits alone on the machine, the median and the first of three."""
    rows = []
    for name in PUBLISHED:
        part = parts.get(f"times/{name}/0")
        if part is None:
            continue
        for model in ("teacher", "student 64", "student 128"):
            steps = "–" if model == "teacher" else f"{part['settings']['steps']:,}"
            label = f"teacher, K = {part['settings']['teacher__factors']:,}" if model == "teacher" else _name(model)
            rows.append(
                [name.capitalize(), label, steps, f"{statistics.median(part[model]):.1f}", f"{part[model][0]:.1f}"]
            )
    return _table(["set", "", "steps", "seconds", "the first of three"], rows) + "\n"


TEXTS: dict[str, Callable[[Mapping[str, Row]], str]] = {
    "public": public_text,
    "others": others_text,
    "per-byte": per_byte_text,
    "dense": dense_text,
    "times": times_text,
    "ranges": lambda parts: "",
}
WIDTHS = (8, 16, 32, 64, 128, 256)
KINDS = {"student": "student", "rg2": "RG²"}
X = "numbers"


def draw(places: Places) -> None:
    """Draw quality against K; without altair nothing is drawn."""
    record = _load(places, "students")
    if record is None or any(importlib.util.find_spec(name) is None for name in ("altair", "vl_convert")):
        return
    folder = places.docs / "students"
    folder.mkdir(exist_ok=True)
    write_text(folder / "per-byte.svg", svg_of(chart(points(record["parts"]))) + "\n")


def points(parts: Mapping[str, Row]) -> list[Row]:
    """Return numbers an item and NDCG@20 of students, of RG² and of published models."""
    found = []
    for name, others in PUBLISHED.items():
        for model, row in _every_width(parts, name)["models"].items():
            kind, _, width = model.partition(" ")
            if width:
                size = numbers_an_item(model, row)
                found.append({"set": name, X: size, "NDCG@20": row["test"]["ndcg@20"], "model": KINDS[kind]})
        found += [
            {"set": name, X: PUBLISHED_WIDTH, "NDCG@20": ndcg, "model": "published, K = 64"}
            for other, (_, ndcg) in others.items()
            if other not in SPECTRAL
        ]
    return found


def chart(values: list[Row]) -> Row:
    """Return the Vega-Lite specification: one panel a set."""
    import altair as alt

    kinds = ["student", "RG²", "published, K = 64"]
    x = alt.X(
        f"{X}:Q",
        title="numbers an item (K, and one more of students and RG²)",
        scale=alt.Scale(type="log", base=2),
        axis=alt.Axis(values=list(WIDTHS)),
    )
    y = alt.Y("NDCG@20:Q", scale=alt.Scale(zero=False))
    colour = alt.Color("model:N", title=None, sort=kinds, legend=alt.Legend(orient="top"))
    base = alt.Chart({"values": values}).encode(x=x, y=y, color=colour)
    lines = base.transform_filter(alt.datum.model != kinds[2]).mark_line(point=True)
    marks = base.transform_filter(alt.datum.model == kinds[2]).mark_point(shape="cross", size=60)
    header = alt.Header(labelColor=INK, labelFontSize=13)
    both = (
        alt.layer(lines, marks)
        .properties(width=320, height=240)
        .facet(column=alt.Column("set:N", title=None, header=header))
    )
    spec: Row = both.resolve_scale(y="independent").to_dict()
    return spec


def _of(parts: Mapping[str, Row], stage: str, name: str) -> list[Row]:
    """The runs of a set: its parts, each with the models of further seeds behind it."""
    own = [part for key, part in parts.items() if key.startswith(f"{stage}/{name}/") and part.get("models")]
    return [run for part in own for run in (part, *({"models": m} for m in part.get("seeds", {}).values()))]


def _every_width(parts: Mapping[str, Row], name: str) -> Row:
    """The models of `public` and of `bytes`, one seed of each."""
    runs = [*_of(parts, "public", name)[:1], *_of(parts, "bytes", name)[:1]]
    return {"models": {model: row for run in runs for model, row in run["models"].items()}}


def _models(runs: Iterable[Row]) -> set[str]:
    return {model for run in runs for model in run["models"]}


def _name(model: str) -> str:
    return NAMED.get(model, model.replace("student ", "student, K = "))


def _cell(runs: list[Row], model: str) -> str:
    """Means over the runs of both metrics, with the standard deviation where there are several."""
    having = [run["models"][model]["test"] for run in runs if model in run["models"]]
    if not having:
        return "–"
    shown = []
    for metric in SHOWN:
        values = [row[metric] for row in having]
        spread = f" ± {statistics.stdev(values):.4f}" if len(values) > 1 else ""
        shown.append(f"{statistics.mean(values):.4f}{spread}")
    return " / ".join(shown)


def _published(name: str, other: str) -> str:
    values = PUBLISHED[name].get(other)
    return "–" if values is None else " / ".join(f"{value:.4f}" for value in values)


def _mean_of(runs: list[Row], model: str) -> float | None:
    values = [run["models"][model]["test"]["ndcg@10"] for run in runs if model in run["models"]]
    return statistics.mean(values) if values else None


def _bold(values: list[float | None]) -> list[str]:
    best = max((value for value in values if value is not None), default=None)
    return ["–" if v is None else f"**{v:.4f}**" if v == best else f"{v:.4f}" for v in values]


def _table(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)
