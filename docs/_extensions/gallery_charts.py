"""The charts of examples: an altair chart named `chart` is drawn into the page and is the picture of the gallery."""

from __future__ import annotations

import textwrap
from typing import Any

from drawings import inline

from research.pages.themed import svg_of


def chart_scraper(block: tuple[Any, ...], block_vars: dict[str, Any], gallery_conf: dict[str, Any]) -> str:
    """Draw the chart that a block of an example has made, as sphinx-gallery asks for it."""
    names = block_vars["example_globals"]
    chart = names.get("chart")
    if chart is None or names.get("_drawn") is chart:
        return ""
    names["_drawn"] = chart
    path = next(block_vars["image_path_iterator"]).replace(".png", ".svg")
    svg = svg_of(chart.to_dict())
    with open(path, "w", encoding="utf-8") as file:
        file.write(svg)
    name = path.rsplit("/", 1)[-1].removesuffix(".svg")
    figure = inline(svg, alt=f"Chart: {chart.to_dict().get('title', name)}", name=name)
    return "\n.. raw:: html\n\n" + textwrap.indent(figure, "    ") + "\n\n"
