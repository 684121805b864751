"""The papers' own models with the grids that their appendix names, to stand beside the same models tuned properly."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from taylorank.models import RG2, RGX, WRMF
from taylorank.models.recommender import Recommender
from taylorank.selection.spaces import Choice, Space


@dataclass(frozen=True)
class Variant:
    """A model as some paper has it, with the space that the paper searches."""

    label: str
    make: Callable[[], Recommender]
    space: Space


_THRESHOLDS = Choice((0.0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9))
# RG: γ = 0, ρ = 1, K = 64, every threshold (the papers' λ grid lies in it). WRMF: α ≤ 8, λ ≤ 0.1, 20 settings.
VARIANTS: dict[str, Variant] = {
    "rg2-paper": Variant(
        "RG2, papers'",
        RG2.paper,
        {"regularization": _THRESHOLDS},
    ),
    "rgx-paper": Variant("RGX, papers'", RGX.paper, {"regularization": _THRESHOLDS}),
    "wrmf-paper": Variant(
        "WRMF, papers' grid",
        WRMF,
        {"alpha": Choice((0.5, 1.0, 2.0, 4.0, 8.0)), "regularization": Choice((0.0, 0.001, 0.01, 0.1))},
    ),
}
