"""How each model looks in every chart: a colour, a shape and a dash, so that models differ without colour too.

The colours are those of Okabe and Ito ("Color universal design", 2008), as CSS variables that style.css defines, so
that light, dark and print share one drawing.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass

from taylorank.report.record import Record

COLOURS = 8
LIGHT = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#1a1e23", "#b8a800")
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


# Models that have their look in every report; the first eight differ in colour. Others
# get theirs by their name, unless its colour is taken.
KNOWN = (
    *("rg2", "ials", "ease", "popularity", "softmax", "implicit-als", "itemknn", "wrmf"),
    *("sampled-rg2", "rgx", "distilled", "bpr", "best possible", "irspack-ials", "sampled-rgx", "released-rg"),
)
LOOKS = 280  # combinations of colour, shape and dash that all differ
# The light colours of style.css, for charts outside of the page.
PLAIN_COLOURS = {
    **dict(zip((f"var(--s{n})" for n in range(COLOURS)), LIGHT, strict=True)),
    "var(--ink)": "#1a1e23",
    "var(--muted)": "#57616c",
    "var(--rule)": "#d8dde2",
}


def series_of(record: Record) -> list[Series]:
    """Return the look of every model of a record, in its order: that of its name, whatever else is compared."""
    looks = _looks(list(record["models"]))
    return [
        Series(
            name,
            str(facts.get("label", name)),
            f"var(--s{looks[name] % COLOURS})",
            SHAPES[looks[name] % len(SHAPES)],
            list(DASHES[looks[name] % len(DASHES)]),
        )
        for name, facts in record["models"].items()
    ]


def _looks(names: list[str]) -> dict[str, int]:
    """Return the number of each model's look; known ones first, so that no other name takes theirs.

    >>> _looks(["ease", "rg2"]), _looks(["mine", "ease"])["ease"]
    ({'ease': 2, 'rg2': 0}, 2)
    """
    looks = {name: KNOWN.index(name.lower()) for name in names if name.lower() in KNOWN}
    for name in names:
        if name not in looks:
            first = zlib.crc32(name.lower().encode()) % LOOKS
            looks[name] = _free_look(first, set(looks.values()))
    return looks


def _free_look(first: int, taken: set[int]) -> int:
    """Return the first look from `first` on that is free, in colour and shape too as long as there are free ones."""
    free = [look for step in range(LOOKS) if (look := (first + step) % LOOKS) not in taken] or [first]
    colours, shapes = {look % COLOURS for look in taken}, {look % len(SHAPES) for look in taken}
    new_colour = [look for look in free if look % COLOURS not in colours] or free
    return next((look for look in new_colour if look % len(SHAPES) not in shapes), new_colour[0])
