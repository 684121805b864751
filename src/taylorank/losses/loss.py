"""A loss and everything that others ask about it; nothing here needs torch until `function` or `criterion` is used."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from taylorank.checks import check_whole
from taylorank.errors import ParameterError
from taylorank.torch_extra import import_with_torch

if TYPE_CHECKING:
    from torch import Tensor

    from taylorank.losses.criterion import Criterion

BOUNDED = (0.07, 0.1, 0.15, 0.2, 0.3)  # temperatures of cosines
TEMPERATURES = (None, *BOUNDED)  # None: inner products


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
    popularity: Tensor | None  # (N,) Σ_x r_xy of each item


@dataclass(frozen=True)
class Loss:
    """A member of the registry: `function` is pure, `criterion` builds what a trainer calls."""

    name: str
    kind: Literal["exact", "product", "sampled", "structured"]
    formula: str
    reference: str
    use: str
    properties: Properties
    function_at: str = field(repr=False)  # "module:name" within this package
    criterion_at: str = field(default="build:sampled", repr=False)  # of what builds the criterion
    options: Mapping[str, Any] = field(default_factory=dict)  # with their defaults

    scoring: Literal["product", "distance", "tree"] = "product"  # what ranks the items of a query
    scores_estimate: Literal["log-odds", "lifts"] | None = None  # lifts: o = p/q − 1 under a proposal q
    log_q: Literal["none", "optional", "negatives", "all"] = "none"  # whose log probabilities the function takes
    draws_may_be_positives: bool = False  # it estimates a sum over all items, which without them would be biased
    has_parameters: bool = False  # the criterion learns something itself
    interaction: float | None = None  # κ of −½ κ (q·o)² if quadratic in the scores (`training.pair_objective`)
    default_temperature: float | None = None  # where it has no minimum unless scores are cosines

    # λ by backbone, 0 for others: what validation data of several sets favour (docs/benchmarks.md, neural defaults)
    default_penalties: Mapping[str, float] = field(default_factory=lambda: {"mf": 0.1})
    temperatures: tuple[float | None, ...] = TEMPERATURES  # to search; (): scores have a scale of their own
    options_to_search: tuple[Mapping[str, Any], ...] = ()  # where they decide more than anything else

    @property
    def function(self) -> Callable[..., Tensor]:
        """The pure function of scores, or of vectors for kind "product"; needs torch."""
        function: Callable[..., Tensor] = import_with_torch(f"taylorank.losses.{self.function_at}")
        return function

    @property
    def draws(self) -> bool:
        """Whether it compares positives with drawn items."""
        return self.kind == "sampled"

    @property
    def batch_of(self) -> Literal["users", "pairs"]:
        """What a step takes: users with all their items if the work is per query, pairs if it is per positive."""
        return "users" if self.kind in ("exact", "product") else "pairs"

    @property
    def needs_log_q(self) -> bool:
        """Whether the sampler must know the probabilities of its draws."""
        return self.log_q in ("negatives", "all")

    @property
    def needs_bounded_scores(self) -> bool:
        """Whether it has no minimum where scores may grow."""
        return self.default_temperature is not None

    @property
    def is_quadratic(self) -> bool:
        """Whether it is quadratic in the scores: then a closed form has its name."""
        return self.interaction is not None

    @property
    def has_quadratic_background(self) -> bool:
        """Whether all items enter by a quadratic in their scores: then Newton's method over all pairs applies."""
        return self.kind == "product"

    def criterion(
        self,
        *,
        n_users: int,
        n_items: int,
        factors: int,
        popularity: Tensor | None = None,
        **options: Any,
    ) -> Criterion:
        """Return the criterion with `options` in place of the defaults; needs torch."""
        build = import_with_torch(f"taylorank.losses.{self.criterion_at}")
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
        criterion: Criterion = build(self, Sizes(n_users, n_items, factors, popularity), {**self.options, **options})
        return criterion
