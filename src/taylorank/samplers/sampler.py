"""What every sampler offers, and what it is given."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import torch
from torch import Tensor

from taylorank.errors import ParameterError
from taylorank.losses.batch import Negatives, Positives

ItemVectors = Callable[[Tensor], Tensor]
"""(…,) item numbers → (…, K) item vectors."""


class Sampler(Protocol):
    """Draws negatives for the positives of a batch; all randomness comes from the generator it is handed.

    A sampler keeps no state between draws, so a saved generator resumes the very same stream.
    """

    def draw(
        self,
        positives: Positives,
        n: int,
        *,
        queries: Tensor | None = None,
        items: ItemVectors | None = None,
        users: Tensor | None = None,
        generator: torch.Generator,
    ) -> Negatives:
        """Draw n negatives for each positive.

        `queries` (B, K) and `items` give the current scores to samplers that need them; `users` (B,) says whose
        row each is, which leaving out positives needs. `generator` lives on the sampler's device.
        """
        ...


def users_of_positives(positives: Positives, users: Tensor | None) -> Tensor:
    """Return the user of each positive, (P,)."""
    if users is None:
        raise ParameterError("leaving out positives needs to know whose rows these are", "pass users=, one per row")
    return users.index_select(0, positives.rows)


def check_generator(generator: Any, device: torch.device) -> None:
    """Refuse a generator that does not live where the draws are made."""
    if not isinstance(generator, torch.Generator) or generator.device.type != device.type:
        where = generator.device.type if isinstance(generator, torch.Generator) else repr(generator)
        raise ParameterError(
            f"the generator is on {where} and the sampler on {device.type}",
            f"make it with torch.Generator({device.type!r})",
        )
