"""The modules of a model: an encoder, a criterion and a sampler, over the users and items of some data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray

from taylorank import backbones, losses, samplers
from taylorank.data import Interactions
from taylorank.training.composition import SPARSE, default_sampler, options_by_part

if TYPE_CHECKING:
    from taylorank.training.neural import Neural


@dataclass(frozen=True, eq=False)
class Parts:
    """What is composed: an encoder, a loss with its own parameters, and what draws negatives (None: no draws)."""

    backbone: Any
    criterion: Any
    sampler: Any | None

    def parameters(self) -> list[torch.nn.Parameter]:
        """All that is learned."""
        return [*self.backbone.parameters(), *self.criterion.parameters()]


def build(model: Neural, data: Interactions, *, device: str, popularity: NDArray[np.float64] | None = None) -> Parts:
    """Return the modules of a model over the users and items of `data`, as they are before training.

    Initial values are drawn from `random_state`. `popularity` of the items is that of `data`, unless that of the
    data the model was fitted to is given.
    """
    of_loss, of_backbone, of_sampler = options_by_part(model)
    encoder = _backbone(model, data, of_backbone)
    counts = data.relative_popularity if popularity is None else popularity
    criterion = losses.get(model.loss).criterion(
        n_users=data.n_users, n_items=data.n_items, factors=encoder.width, popularity=_counts(counts), **of_loss
    )
    sampler = _sampler(model, data, counts, device=device, options=of_sampler)
    return Parts(encoder.to(device), criterion.to(device), sampler)


def _backbone(model: Neural, data: Interactions, options: Mapping[str, Any]) -> backbones.Backbone:
    cosines = {} if model.temperature is None else {"temperature": model.temperature, "similarity": "cosine"}
    sparse = {"sparse": True} if model.optimizer == SPARSE else {}
    generator = torch.Generator().manual_seed(int(model.random_state))
    return backbones.get(model.backbone).build(
        data, factors=model.factors, generator=generator, **cosines, **sparse, **options
    )


def _sampler(
    model: Neural, data: Interactions, popularity: NDArray[Any], *, device: str, options: Mapping[str, Any]
) -> samplers.Sampler | None:
    name = default_sampler(model.loss, model.sampler)
    if name is None:
        return None
    sampler = samplers.get(name)
    if sampler.popularity_counts == "pairs":
        popularity = np.bincount(data.by_user.indices, minlength=data.n_items)
    left_out = None if losses.get(model.loss).draws_may_be_positives else data.by_user
    return sampler(n_items=data.n_items, popularity=_counts(popularity), positives=left_out, device=device, **options)


def _counts(popularity: NDArray[Any]) -> torch.Tensor:
    return torch.as_tensor(popularity.astype(np.float32))
