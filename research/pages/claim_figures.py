"""Lines over the lists in a claim's numbers, as SVG files."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

from research.output import write_text
from research.pages.themed import svg_of

FOLDER = "claims"
SIZE = {"width": 420, "height": 220}

Record = dict[str, Any]


def has_figure(claim: Record) -> bool:
    """Whether there is something to draw."""
    return bool(claim["figure"] and claim["numbers"])


def draw_claims(claims: list[Record], folder: Path) -> list[Path]:
    """Write the figure of every claim that has one; return their files. Without altair nothing is drawn."""
    if importlib.util.find_spec("altair") is None or importlib.util.find_spec("vl_convert") is None:
        return []
    folder.mkdir(parents=True, exist_ok=True)
    files = []
    for claim in filter(has_figure, claims):
        files.append(folder / f"{claim['id']}.svg")
        write_text(files[-1], svg_of(chart(claim)))
    return files


def chart(claim: Record) -> Record:
    """Return the Vega-Lite specification of a claim's figure."""
    import altair as alt

    figure = claim["figure"]
    points = rows(claim)
    y_scale = alt.Scale(type="log") if figure["log_y"] else alt.Scale(zero=False)
    x_scale = alt.Scale(type="log" if figure["log_x"] else "linear", zero=False, nice=not figure["log_x"])
    x = alt.X("x:Q", title=figure["x"], scale=x_scale)
    y = alt.Y("y:Q", title=None, scale=y_scale, axis=alt.Axis(format="~g") if figure["log_y"] else alt.Axis())
    encoded: Record = {"x": x, "y": y}
    if len(figure["y"]) > 1:
        encoded["color"] = alt.Color("line:N", title=None, sort=list(figure["y"]), legend=alt.Legend(orient="top"))
        encoded["strokeDash"] = alt.StrokeDash("line:N", sort=list(figure["y"]), legend=None)
    line = alt.Chart({"values": points}).mark_line(point=True).encode(**encoded)
    spec: Record = line.properties(title=figure["title"], **SIZE).to_dict()
    return spec


def rows(claim: Record) -> list[Record]:
    """Return the points; what a logarithmic axis cannot show is left out."""
    figure, numbers = claim["figure"], claim["numbers"]
    return [
        {"x": x, "y": y, "line": name}
        for name in figure["y"]
        for x, y in zip(numbers[figure["x"]], numbers[name], strict=True)
        if not (figure["log_y"] and y <= 0) and not (figure["log_x"] and x <= 0)
    ]
