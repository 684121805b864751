"""Dot product or cosine, with a temperature, folded into the vectors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from torch import Tensor
from torch.nn import functional

from taylorank.checks import check_number
from taylorank.errors import ParameterError


@dataclass(frozen=True)
class Similarity:
    """o = u · v / t ("dot") or u · v / (|u| |v| t) ("cosine"), as the inner product of `query(u)` and `item(v)`."""

    kind: Literal["dot", "cosine"] = "dot"
    temperature: float = 1.0

    def __post_init__(self) -> None:
        if self.kind not in ("dot", "cosine"):
            raise ParameterError(f"similarity={self.kind!r} is unknown", "choose dot or cosine")
        if not check_number(self.temperature, "temperature") > 0:
            raise ParameterError(f"temperature={self.temperature} is not above 0", "give one, such as 0.1")

    def query(self, vectors: Tensor) -> Tensor:
        """Return u/t or u/(|u| t)."""
        vectors = self.item(vectors)
        return vectors if self.temperature == 1 else vectors / float(self.temperature)

    def item(self, vectors: Tensor) -> Tensor:
        """Return v or v/|v|."""
        return vectors if self.kind == "dot" else functional.normalize(vectors, dim=-1)
