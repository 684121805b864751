"""Charts as SVG that can be read in light and in dark mode.

Text and lines have colours that stand for "ink" and "line". In the SVG these become CSS variables: a file that is
looked at on its own follows the reader's system, and in the site the page sets them. Colours of series have a contrast
of at least 3 : 1 to white and to the dark page.
"""

from __future__ import annotations

from typing import Any

Spec = dict[str, Any]

SERIES = ("#3574d6", "#d2691e", "#0f8f84", "#a457d9", "#d6455b", "#5f8f1f", "#8a6d3b", "#7b8794")
INK, LINE, PAPER = "#010203", "#040506", "#070809"  # placeholders, replaced by variables
VARIABLES = {
    INK: "var(--drawing-ink, #2b3440)",
    LINE: "var(--drawing-line, #c9d1d9)",
    PAPER: "var(--drawing-paper, #ffffff)",
}
STYLE = (
    "<style>.drawn{--drawing-ink:#2b3440;--drawing-line:#c9d1d9;--drawing-paper:#ffffff}"
    "@media(prefers-color-scheme:dark){.drawn{--drawing-ink:#d5dbe3;--drawing-line:#4b5663;--drawing-paper:#14181e}}</style>"
)
CONFIG: Spec = {
    "background": None,
    "view": {"stroke": None},
    "font": "system-ui, sans-serif",
    "title": {"color": INK, "fontSize": 14, "fontWeight": 600, "anchor": "start", "offset": 10},
    "axis": {
        "labelColor": INK,
        "titleColor": INK,
        "labelFontSize": 12,
        "titleFontSize": 12,
        "titleFontWeight": "normal",
        "gridColor": LINE,
        "gridOpacity": 0.6,
        "domainColor": LINE,
        "tickColor": LINE,
    },
    "legend": {"labelColor": INK, "titleColor": INK, "labelFontSize": 12, "titleFontSize": 12, "labelLimit": 300},
    "mark": {"color": SERIES[0]},
    "rule": {"color": SERIES[0]},  # black by default, which a dark page swallows
    "text": {"color": INK, "fontSize": 12},
    "range": {"category": list(SERIES)},
}


def svg_of(spec: Spec) -> str:
    """Return a Vega-Lite specification as SVG with the colours of the site."""
    import vl_convert

    plain = {key: value for key, value in spec.items() if key != "background"}
    return themed(vl_convert.vegalite_to_svg({**plain, "config": {**plain.get("config", {}), **CONFIG}}))


def themed(svg: str) -> str:
    """Return the SVG with variables in the place of ink and line, and their values.

    >>> themed('<svg width="9"><path stroke="#010203"></path></svg>')[:47]
    '<svg class="drawn" width="9"><style>.drawn{--dr'
    """
    for placeholder, variable in VARIABLES.items():
        svg = svg.replace(placeholder, variable)
    opening, _, rest = svg.partition(">")
    opening = opening.replace(' class="marks"', "").replace("<svg", '<svg class="drawn"', 1)
    return f"{opening}>{STYLE}{rest}"
