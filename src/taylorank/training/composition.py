"""Which losses, backbones and samplers go together, and how to build them.

A composition has a name, `loss/backbone/sampler`, of which the last two may be left out: "softmax",
"sparsemax/lightgcn", "bpr/mf/dynamic".
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from taylorank import backbones, losses, samplers
from taylorank.data import Interactions
from taylorank.errors import ParameterError
from taylorank.training.first_order import Parts

OF_ALL = ("self", "n_users", "n_items", "factors", "popularity", "positives", "device", "generator", "sparse", "graph")
OF_THE_MODEL = ("temperature", "similarity")  # Neural has a parameter for them
# Estimates of a sum over all items: their draws may hit positives, or the estimate is biased. The others contrast.
WITH_POSITIVES = ("sampled-softmax", "sampled-softmax-all", "sampled-softmax-negatives", "nce")


def check_composition(
    loss: str,
    backbone: str,
    sampler: str | None,
    *,
    temperature: float | None,
    optimizer: str,
    context_exponent: float,
) -> None:
    """Refuse parts that cannot work together, with the reason."""
    of_loss, of_backbone = losses.get(loss), backbones.get(backbone)
    draws, traits = of_loss.kind == "sampled", criterion_traits(loss)
    if sampler is not None:
        of_sampler = samplers.get(sampler)
        if not draws:
            raise ParameterError(
                f"{loss} draws no negatives, so sampler={sampler!r} would do nothing", "leave the sampler out"
            )
        if traits.needs_log_q and of_sampler.needs_scores:
            raise ParameterError(
                f"{loss} needs the probability of each draw, which sampler={sampler!r} cannot tell",
                "choose uniform or popularity, or sampled-softmax as the loss",
            )
    if temperature is not None and traits.scoring == "distance":
        raise ParameterError(
            f"{loss} ranks by distances, which temperature={temperature} does not scale", "leave the temperature out"
        )
    if of_loss.needs_bounded_scores and temperature is None:
        raise ParameterError(
            f"{loss} falls without end where scores may grow", "give a temperature, such as 1, which makes them cosines"
        )
    if context_exponent != 1 and of_backbone.takes == "sequences":
        raise ParameterError(
            f"{backbone} counts every place of a history alike, so context_exponent={context_exponent:g} would do "
            "nothing",
            "leave it out",
        )
    if optimizer == "sparse-adam":
        _check_sparse(loss, backbone, draws and of_backbone.has_sparse_gradients, traits)


def _check_sparse(loss: str, backbone: str, has_sparse_gradients: bool, traits: losses.Criterion) -> None:
    """Refuse a composition of which a part has dense gradients."""
    if not has_sparse_gradients:
        raise ParameterError(
            f"sparse-adam needs a loss with draws on mf, not {loss} on {backbone}", "choose optimizer='adam'"
        )
    if list(traits.parameters()):
        raise ParameterError(f"sparse-adam cannot move what {loss} itself learns", "choose optimizer='adam'")


def option_of_loss(loss: str, options: Mapping[str, Any], name: str) -> Any:
    """Return an option of the loss: the one given, or its default; None where the loss has no such option."""
    return options.get(name, losses.get(loss).options.get(name))


@lru_cache
def criterion_traits(loss: str) -> losses.Criterion:
    """Return a criterion over two items, to ask what it needs."""
    return losses.get(loss).criterion(n_users=1, n_items=2, factors=1, popularity=torch.ones(2))


def default_sampler(loss: str, sampler: str | None) -> str | None:
    """Return the sampler: the one asked for, uniform for a loss with draws, nobody for the others."""
    return sampler or ("uniform" if losses.get(loss).kind == "sampled" else None)


def divided_options(
    loss: str, backbone: str, sampler: str | None, options: Mapping[str, Any]
) -> tuple[dict[str, Any], ...]:
    """Give each option to the part that has it, (of the loss, of the backbone, of the sampler)."""
    known = [
        set(losses.get(loss).options),
        option_names(backbones.get(backbone)),
        set() if sampler is None else option_names(samplers.get(sampler)),
    ]
    for name in options:
        if not any(name in names for names in known):
            have = ", ".join(sorted(set().union(*known))) or "none"
            parts = "/".join(part for part in (loss, backbone, sampler) if part)
            raise ParameterError(f"{parts} has no option {name!r}", f"its options: {have}")
    of_loss, of_backbone, of_sampler = ({n: v for n, v in options.items() if n in names} for names in known)
    return of_loss, of_backbone, of_sampler


def option_names(kind: Any) -> set[str]:
    """Return the options of a backbone or a sampler: the arguments that only this kind has."""
    return set(inspect.signature(kind.__init__).parameters) - {*OF_ALL, *OF_THE_MODEL}


def build_parts(
    data: Interactions,
    *,
    loss: str,
    backbone: str,
    sampler: str | None,
    factors: int,
    temperature: float | None,
    options: Mapping[str, Any],
    sparse: bool,
    device: str,
    seed: int,
    popularity: NDArray[np.float64] | None = None,
) -> Parts:
    """Build what `FirstOrder` trains, on `device`, with initial values drawn from `seed`.

    `popularity` of the items is Σ_x r_xy of `data`, unless another is given.
    """
    of_loss, of_backbone, of_sampler = divided_options(loss, backbone, sampler, options)
    generator = torch.Generator().manual_seed(seed)
    if temperature is not None:
        of_backbone |= {"temperature": temperature, "similarity": "cosine"}
    if sparse:
        of_backbone["sparse"] = True
    encoder = backbones.get(backbone).build(data, factors=factors, generator=generator, **of_backbone)
    columns, n_items = data.by_user.indices, data.n_items
    summed: NDArray[Any] = np.bincount(columns, weights=data.strengths, minlength=n_items)
    of_items = torch.as_tensor((summed if popularity is None else popularity).astype(np.float32))
    criterion = losses.get(loss).criterion(
        n_users=data.n_users,
        n_items=n_items,
        factors=encoder.width,
        popularity=of_items,
        **of_loss,
    )
    draws = None
    if sampler is not None:
        met = None if loss in WITH_POSITIVES else data.by_user
        if sampler == "in-batch":  # which meets an item once for each of its pairs, however strong they are
            of_items = torch.as_tensor(np.bincount(columns, minlength=n_items).astype(np.float32))
        draws = samplers.get(sampler)(n_items=n_items, popularity=of_items, positives=met, device=device, **of_sampler)
    return Parts(encoder.to(device), criterion.to(device), draws)
