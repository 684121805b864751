"""The losses as the registry declares them, in docs/losses.md."""

from __future__ import annotations

from research.pages.tables import Table
from research.places import Places
from taylorank.losses.loss import Loss
from taylorank.losses.registry import LOSSES

HEAD = """# Losses

`tr.Neural("softmax")` and so on. Begin with softmax; [which loss, which encoder](explanation/which-loss.md) says when
another pays. [The letters](#what-the-columns-mean) are explained below.

"""
NOTES = """
## What the columns mean

o are the scores of a query, y its positive, j the other items or the n draws from q, N all items; B queries, P
positives and K factors make a step. A query with several positives pays for its row of scores once. Graded targets are
weights on the positives.

"""
CHOICE = ("loss", "use it when", "cost of a step")
COLUMNS = ("loss", "ℓ", "order", "DCG", "Jacobian", "shift", "options", "source")
TAIL = """
- **order**: does the prediction keep the order of the scores? "weak": unlike scores may get equal predictions.
- **DCG**: where a query has one positive, y with probability η_y, do the best scores rank by η? Then they are best for
  DCG. The sparse losses too: an item that is never positive scores below all others, although it has no gradient
  there, and among such items no order is better
  ([why](claims/softmax-family-order-and-calibration.md#sparse-losses-dcg-consistent)). "no" comes with an example in
  the tests for rankmax and hinge; ccl, uib and sml are hinges of the same kind.
- **Jacobian**: the largest spectral norm of the Jacobian of the prediction; of the sigmoid for pairwise and binary
  losses. For entmax it is 0.707 at the default α, and beyond α = 2 items that enter the support may have any slope.
- **shift**: adding a constant to all scores of a query (uib: and its boundary; sml: all distances) changes nothing.

rg2 and rgx look at all items through two moments. `refresh` is how many steps pass between computing them anew (1:
exact), or "average"; in between `draws` items restore the gradient (`decay` and `query_decay` as in `losses.refresh`).

Exact losses hold a few rows of scores at a time (`chunk_elements`) and compute gradients with the values, so a step
costs three matrix products. `torch.nn.functional.linear_cross_entropy`, where torch has it, gives the same numbers for
one positive per query and equal weights; softmax does without it, as it was no quicker there and takes nothing else.

`losses.get(name)` has the pure function (`function`), its defaults (`options`) and `criterion(…)`, the module that
sums it over a batch for a trainer. The tables are written by `python -m research.pages losses` from the registry.
"""


def made(name: str, places: Places) -> str:
    """Return the page."""
    del name, places
    choice = [(f"`{loss.name}`", loss.use, loss.properties.cost) for loss in LOSSES.values()]
    whole = Table(COLUMNS, [_row(loss) for loss in LOSSES.values()]).plain()
    formulas = f"\n## Formulas and properties\n\n{whole}\n"
    return HEAD + Table(CHOICE, choice).plain() + "\n" + formulas + NOTES + TAIL


def _row(loss: Loss) -> tuple[str, ...]:
    known = loss.properties
    jacobian = known.jacobian if isinstance(known.jacobian, str) else f"≤ {known.jacobian:.3g}"
    shown = [f"{name}={value!r}" for name, value in loss.options.items() if name != "chunk_elements"]
    options = f"`{', '.join(shown)}`" if shown else "–"
    shift = "yes" if known.shift_invariant else "no"
    formula = loss.formula.replace("|", r"\|")
    return (
        *(f"`{loss.name}`", formula, known.order, known.dcg, jacobian, shift),
        *(options, loss.reference),
    )
