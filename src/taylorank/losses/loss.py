"""A loss and everything that is said about it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from torch import Tensor

from taylorank.checks import check_whole
from taylorank.errors import ParameterError
from taylorank.losses.criterion import Criterion


@dataclass(frozen=True)
class Properties:
    """What is known of a loss; the table of the docs is made of it."""

    order: str  # of the prediction map: "strict", "weak", or "none": do higher scores get higher predictions?
    dcg: str  # do the best scores under any distribution of one positive rank by its probability?
    cost: str  # of one step with B queries, P positives, N items, K factors, n draws
    jacobian: float | str = "–"  # largest spectral norm of the Jacobian of the prediction map
    shift_invariant: bool = True  # adding a constant to all scores of a query changes nothing


@dataclass(frozen=True)
class Sizes:
    """What a criterion may need to know of data and model."""

    n_users: int
    n_items: int
    factors: int
    popularity: Tensor | None  # (N,) how often each item was met


@dataclass(frozen=True)
class Loss:
    """A member of the registry: `function` is pure, `criterion` builds what a trainer calls."""

    name: str
    kind: str  # exact, product, sampled, structured
    function: Callable[..., Tensor]
    formula: str
    reference: str
    use: str
    properties: Properties
    build: Callable[[Sizes, dict[str, Any]], Criterion] = field(repr=False)
    options: Mapping[str, Any] = field(default_factory=dict)
    needs_bounded_scores: bool = False  # where they may grow it has no minimum

    def criterion(
        self,
        *,
        n_users: int,
        n_items: int,
        factors: int,
        popularity: Tensor | None = None,
        **options: Any,
    ) -> Criterion:
        """Return the criterion with `options` in place of the defaults."""
        unknown = sorted(options.keys() - self.options.keys())
        if unknown:
            has = f"its options are {', '.join(self.options)}" if self.options else "it has no options"
            raise ParameterError(f"the loss {self.name} has no option {unknown[0]!r}", has)
        for name, value in (("n_users", n_users), ("n_items", n_items), ("factors", factors)):
            check_whole(value, name)
        if popularity is not None and tuple(popularity.shape) != (n_items,):
            raise ParameterError(
                f"popularity has shape {tuple(popularity.shape)}", f"give one count for each of {n_items} items"
            )
        return self.build(Sizes(n_users, n_items, factors, popularity), {**self.options, **options})
