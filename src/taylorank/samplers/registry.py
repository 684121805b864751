"""Every sampler by its name, with what is declared of it; torch is not needed to read it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from taylorank.checks import check_name
from taylorank.torch_extra import import_with_torch

if TYPE_CHECKING:
    from taylorank.samplers.sampler import Sampler


@dataclass(frozen=True)
class RegisteredSampler:
    """What others ask about a sampler. Calling it makes one, which needs torch."""

    name: str
    formula: str
    class_at: str = field(repr=False)  # "module:name" within this package
    reference: str = "–"
    options: Mapping[str, Any] = field(default_factory=dict)  # with their defaults
    needs_scores: bool = False  # it looks at the current scores
    knows_log_q: bool = True  # the probability of a draw has a closed form
    takes_count: bool = True  # False: what the batch offers, however many draws are asked for
    popularity_counts: Literal["strengths", "pairs"] = "strengths"  # what makes an item popular

    @property
    def cls(self) -> type[Sampler]:
        """The class; needs torch."""
        kind: type[Sampler] = import_with_torch(f"taylorank.samplers.{self.class_at}")
        return kind

    def __call__(self, **arguments: Any) -> Sampler:
        """Make the sampler: n_items, popularity, positives, device, and its options."""
        return self.cls(**arguments)


_ROUNDS = {"rounds": 8}
_LIST = (
    RegisteredSampler("uniform", "q_y = 1/N", "independent:UniformSampler", options=_ROUNDS),
    RegisteredSampler(
        "popularity",
        "q_y ∝ max(popularity_y, 1)^exponent",
        "independent:PopularitySampler",
        "Mikolov et al. 2013",
        options={"exponent": 0.75, **_ROUNDS},
    ),
    RegisteredSampler(
        "dynamic",
        "the highest score of `pool` draws from q_y ∝ max(popularity_y, 1)^exponent",
        "dynamic:DynamicSampler",
        "Zhang et al. 2013",
        options={"pool": 16, "exponent": 0.0, **_ROUNDS},
        needs_scores=True,
        knows_log_q=False,
    ),
    RegisteredSampler(
        "in-batch",
        "the other positives of the batch, q_y = popularity_y / Σ popularity",
        "in_batch:InBatchSampler",
        "Yi et al. 2019",
        options={"limit": 4096},
        takes_count=False,
        popularity_counts="pairs",  # a batch meets an item once for each of its pairs, however strong they are
    ),
)
SAMPLERS = {sampler.name: sampler for sampler in _LIST}


def names() -> tuple[str, ...]:
    """Return the names of all samplers."""
    return tuple(SAMPLERS)


def get(name: str) -> RegisteredSampler:
    """Return what is registered for the sampler called `name`.

    >>> get("dynamic").options["pool"]
    16
    """
    return check_name(name, SAMPLERS, "sampler")
