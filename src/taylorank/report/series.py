"""How each model looks in every chart: a colour, a shape and a dash, so that models differ without colour too.

The colours are those of Okabe and Ito ("Color universal design", 2008), as CSS variables that style.css defines, so
that light, dark and print share one drawing.
"""

from __future__ import annotations

from dataclasses import dataclass

from taylorank.report.record import Record

COLOURS = 8
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right")
DASHES = ([1, 0], [7, 3], [2, 2], [8, 3, 2, 3], [12, 4])

# The same shapes in a box of 12 × 12, for the legend.
OUTLINES = {
    "circle": "M6 2a4 4 0 1 0 .01 0z",
    "square": "M2.5 2.5h7v7h-7z",
    "triangle-up": "M6 1.8 10.4 9.6H1.6z",
    "diamond": "M6 1 10.2 6 6 11 1.8 6z",
    "cross": "M4.7 1.5h2.6v3.2h3.2v2.6H7.3v3.2H4.7V7.3H1.5V4.7h3.2z",
    "triangle-down": "M6 10.2 1.6 2.4h8.8z",
    "triangle-right": "M10.2 6 2.4 10.4V1.6z",
}


@dataclass(frozen=True)
class Series:
    """One model as charts and legend draw it."""

    name: str
    label: str
    colour: str
    shape: str
    dash: list[int]

    @property
    def outline(self) -> str:
        """The shape as an SVG path."""
        return OUTLINES[self.shape]


def series_of(record: Record) -> list[Series]:
    """Return the look of every model of a record, in its order; the first 280 all differ."""
    return [
        Series(
            name,
            str(facts.get("label", name)),
            f"var(--s{number % COLOURS})",
            SHAPES[number % len(SHAPES)],
            list(DASHES[number % len(DASHES)]),
        )
        for number, (name, facts) in enumerate(record["models"].items())
    ]
