"""The pictures of docs/pictures: the idea of RG², time to quality, quality per byte.

The first three are computed here, from the formulas and a small set; the others are drawn from records that are there.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from research.output import write_text
from research.pages.themed import INK, LINE, SERIES, Spec, svg_of
from research.places import Places

FOLDER = "pictures"
N = 10  # items of the first picture
WIDTH, HEIGHT = 400, 270
BLUE, ORANGE, TEAL = SERIES[:3]
NAMES = {
    "rg2": "RG²",
    "rg2-paper": "RG², papers' grid",
    "sampled-rg2": "sampled RG²",
    "wrmf": "WRMF",
    "wrmf-paper": "WRMF, papers' grid",
    "ials": "iALS",
    "ease": "EASE",
    "itemknn": "item neighbours",
    "implicit-als": "implicit, ALS",
    "irspack-ials": "irspack, iALS",
}


def made(name: str, places: Places) -> str:
    """Return the page, which nobody changes: pictures alone are made."""
    return (places.docs / f"{name}.md").read_text(encoding="utf-8")


def draw(places: Places) -> list[str]:
    """Write every picture whose record is there; return their names."""
    (places.docs / FOLDER).mkdir(exist_ok=True)
    drawn = []
    for name, specify in PICTURES.items():
        spec = specify(places)
        if spec is not None:
            write_text(places.docs / FOLDER / f"{name}.svg", svg_of(spec) + "\n")
            drawn.append(name)
    return drawn


def parabola(places: Places) -> Spec:
    """Softmax loss of one positive among N items, as its score grows, and its expansion to second order.

    L(o) = −o + log((e^o + N − 1)/N),   RG²(o) = −o + o/N + o²/2N, least at o = N − 1
    """
    o = np.linspace(-4, 16, 81)
    curves = {"softmax": -o + np.log((np.exp(o) + N - 1) / N), "RG², its parabola": -o + o / N + o**2 / (2 * N)}
    rows = [
        {"o": float(x), "loss": round(float(y), 5), "curve": name}
        for name, values in curves.items()
        for x, y in zip(o, values, strict=True)
    ]
    best = {"o": N - 1, "loss": -(N - 1) + (N - 1) / N + (N - 1) ** 2 / (2 * N), "text": f"least at N − 1 = {N - 1}"}
    x = {"field": "o", "type": "quantitative", "title": "score o of the item that was chosen"}
    y = {"field": "loss", "type": "quantitative", "title": "loss", "axis": {"grid": False}}
    legend = {"title": None, "orient": "top", "symbolSize": 300}
    scale = {"domain": list(curves), "range": [BLUE, ORANGE]}
    line = {
        "data": {"values": rows},
        "mark": {"type": "line", "strokeWidth": 2.5},
        "encoding": {"x": x, "y": y, "color": {"field": "curve", "type": "nominal", "legend": legend, "scale": scale}},
    }
    dot = {
        "data": {"values": [best]},
        "mark": {"type": "point", "filled": True, "size": 90, "color": ORANGE},
        "encoding": {"x": x, "y": y},
    }
    text = {
        "data": {"values": [best]},
        "mark": {"type": "text", "dy": 18, "color": INK},
        "encoding": {"x": x, "y": y, "text": {"field": "text"}},
    }
    return {"layer": [line, dot, text], "width": WIDTH, "height": HEIGHT}


def small_targets() -> NDArray[np.float64]:
    """Return s = r / (I q) − 1 of 18 users × 24 items that fall into three groups, with uniform q."""
    rng = np.random.default_rng(4)
    users, items = np.arange(18) // 6, np.arange(24) // 8
    likely = np.where(users[:, None] == items[None, :], 0.55, 0.06)
    r = (rng.random(likely.shape) < likely).astype(float)
    r[np.arange(18), users * 8] = 1  # nobody without an item
    s: NDArray[np.float64] = r * r.shape[1] / r.sum(axis=1, keepdims=True) - 1
    return s


def targets(places: Places) -> Spec:
    """The scores that the parabolas ask for, beside their best approximation of rank 3."""
    s = small_targets()
    left, values, right = np.linalg.svd(s, full_matrices=False)
    low_rank = (left[:, :3] * values[:3]) @ right[:3]
    panels = [("targets s = r / (I q) − 1", s), ("the best of rank 3", low_rank)]
    rows = [
        {"panel": title, "user": int(x), "item": int(y), "value": round(float(matrix[x, y]), 4)}
        for title, matrix in panels
        for x, y in np.ndindex(*matrix.shape)
    ]
    quiet = {"axis": None, "type": "ordinal"}
    high = float(np.abs(s).max())
    # From the colour of the page to blue by opacity alone: the same in light and dark mode.
    opacity = {"field": "value", "type": "quantitative", "legend": None}
    return {
        "data": {"values": rows},
        "facet": {
            "column": {"field": "panel", "title": None, "sort": [title for title, _ in panels], "header": HEADER},
        },
        "spacing": 14,
        "spec": {
            "width": 190,
            "height": HEIGHT - 30,
            "mark": {"type": "rect", "color": BLUE},
            "encoding": {
                "x": {"field": "item", **quiet},
                "y": {"field": "user", **quiet},
                "opacity": {**opacity, "scale": {"domain": [-1, high], "range": [0.04, 1], "clamp": True}},
            },
        },
        "config": {},
    }


HEADER: Spec = {"labelColor": INK, "labelFontSize": 12, "labelAnchor": "start"}


def spectrum(places: Places) -> Spec:
    """The singular values of those targets; a threshold takes the same from each, and ranks end where one says."""
    values = np.linalg.svd(small_targets(), compute_uv=False)[:12]
    tau = 0.4 * values[0]
    rows = []
    for k, value in enumerate(values, start=1):
        kept = max(value - tau, 0.0)
        rows += [
            {"k": k, "low": 0.0, "high": round(float(kept), 4), "part": "kept"},
            {
                "k": k,
                "low": round(float(kept), 4),
                "high": round(float(value), 4),
                "part": "taken off by the threshold",
            },
        ]
    parts = ["kept", "taken off by the threshold"]
    return {
        "data": {"values": rows},
        "mark": {"type": "bar", "cornerRadius": 2},
        "width": WIDTH,
        "height": HEIGHT,
        "encoding": {
            "x": {"field": "k", "type": "ordinal", "title": "singular value, largest first", "axis": {"labelAngle": 0}},
            "y": {"field": "high", "type": "quantitative", "title": None, "axis": {"grid": False}},
            "y2": {"field": "low"},
            "color": {
                "field": "part",
                "type": "nominal",
                "scale": {"domain": parts, "range": [BLUE, LINE]},
                "legend": {"title": None, "orient": "top"},
            },
        },
    }


def time_to_quality(places: Places) -> Spec | None:
    """NDCG@10 on ML-1M against the seconds of one fit, every model tuned with as many fits."""
    file = places.comparisons / "ml-1m.json"
    if not file.exists():
        return None
    models = json.loads(file.read_text(encoding="utf-8"))["summary"]["models"]
    rows = [
        {
            "model": NAMES[name],
            "seconds": one["fit_seconds"],
            "ndcg": one["metrics"]["ndcg@10"]["mean"],
            "who": "peers" if "-als" in name or "-ials" in name else "taylorank",
        }
        for name, one in models.items()
        if name in NAMES
    ]
    return scatter(rows, x=("seconds", "seconds of one fit, two cores, log scale"), y=("ndcg", "NDCG@10"))


def scatter(rows: list[dict[str, Any]], *, x: tuple[str, str], y: tuple[str, str]) -> Spec:
    """Return named points over a logarithmic axis."""
    kinds = list(dict.fromkeys(row["who"] for row in rows))
    across = {
        "field": x[0],
        "type": "quantitative",
        "title": x[1],
        "scale": {"type": "log", "nice": False, "padding": 24},
        "axis": {"format": "~g", "tickCount": 6, "grid": False},
    }
    up = {"field": y[0], "type": "quantitative", "title": y[1], "scale": {"zero": False, "padding": 16}}
    colour = {
        "field": "who",
        "type": "nominal",
        "scale": {"domain": kinds, "range": list(SERIES[: len(kinds)])},
        "legend": {"title": None, "orient": "top", "symbolSize": 120},
    }
    shape = {"field": "who", "type": "nominal", "scale": {"domain": kinds}, "legend": None}
    points = {
        "mark": {"type": "point", "filled": True, "size": 110, "opacity": 1},
        "encoding": {"x": across, "y": up, "color": colour, "shape": shape},
    }
    words = [
        {
            "transform": [
                {
                    "filter": {
                        "field": "model",
                        "oneOf": [row["model"] for row in rows if side == _side(row, rows, x, y)],
                    }
                }
            ],
            "mark": {"type": "text", "align": side, "dx": 9 if side == "left" else -9, "color": INK},
            "encoding": {"x": across, "y": up, "text": {"field": "model"}},
        }
        for side in ("left", "right")
    ]
    return {"data": {"values": rows}, "layer": [points, *words], "width": 560, "height": 320}


def _side(row: dict[str, Any], rows: list[dict[str, Any]], x: tuple[str, str], y: tuple[str, str]) -> str:
    """Return how a name is aligned: it stands right of its point ("left"), unless the edge or a neighbour is there."""
    height = max(one[y[0]] for one in rows) - min(one[y[0]] for one in rows)
    close = [
        one for one in rows if row[x[0]] < one[x[0]] < 1.4 * row[x[0]] and abs(one[y[0]] - row[y[0]]) < 0.06 * height
    ]
    return "right" if close or row[x[0]] == max(one[x[0]] for one in rows) else "left"


PICTURES: dict[str, Callable[[Places], Spec | None]] = {
    "parabola": parabola,
    "targets": targets,
    "spectrum": spectrum,
    "time-to-quality": time_to_quality,
}
