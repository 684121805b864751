"""Weights of contexts on the cluster: c_x = I_x^ρ, and what S' multiplies each row of a block by.

S' = diag(a √(c + κ) / I) R diag(1/√q) − …, as in `objectives.rg`, with I in units of the median strength; R stays as it
was read, so the unit is part of the row's factor.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taylorank.spark.blocks import read_block
from taylorank.spark.folder import Folder
from taylorank.spark.prepared import Prepared
from taylorank.spark.session import Batches, map_arrow, numbered, to_arrow

SUMS = "number int, weight double, context double, largest double"


@dataclass(frozen=True)
class Contexts:
    """The numbers that decide the weight of a context: r̃, ρ and κ."""

    unit: float
    exponent: float
    score_penalty: float = 0.0  # κ itself

    def weights(self, totals: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return c and c + κ of rows with these totals in the units of the data; both 0 for an empty one."""
        there = totals > 0
        c = np.where(there, np.power(np.where(there, totals / self.unit, 1.0), self.exponent), 0.0)
        return c, np.where(there, c + self.score_penalty, 0.0)

    def row_scale(self, totals: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return a √(c + κ) / Σ_y r_xy, (users,)."""
        c, context = self.weights(totals)
        shrunk = np.divide(c, np.sqrt(context), out=np.zeros_like(c), where=context > 0)
        return np.divide(shrunk, totals, out=np.zeros_like(c), where=totals > 0)


@dataclass(frozen=True)
class ContextSums:
    """Over all users: `total` is C = Σ (c + κ), `mean` that of c, `largest` the largest factor of a row."""

    contexts: Contexts
    total: float
    mean: float
    largest: float


@lru_cache(maxsize=4)
def row_scales(folder: Folder, number: int, contexts: Contexts) -> NDArray[np.float64]:
    """Return the factors of the rows of a block."""
    return contexts.row_scale(read_block(folder, number).totals)


def context_sums(data: Prepared, exponent: float, score_penalty: float) -> ContextSums:
    """Return the weights of all contexts, κ being `score_penalty` times the mean of c."""
    contexts = Contexts(data.typical_strength, exponent)
    weight, total, largest = _sums(data, contexts)
    mean = weight / data.n_users
    if score_penalty:
        contexts = replace(contexts, score_penalty=score_penalty * mean)
        _, total, largest = _sums(data, contexts)
    return ContextSums(contexts, total, mean, largest)


def _sums(data: Prepared, contexts: Contexts) -> tuple[float, float, float]:
    job = map_arrow(numbered(data.session, data.blocks), partial(_block_sums, data.folder, contexts), SUMS)
    table = to_arrow(job).sort_by("number")
    weight, total = (float(np.sum(table[name].to_numpy())) for name in ("weight", "context"))
    return weight, total, float(np.max(table["largest"].to_numpy()))


def _block_sums(folder: Folder, contexts: Contexts, batches: Batches) -> Iterator[Any]:
    import pyarrow as pa

    for number in (value for batch in batches for value in batch.column(0).to_pylist()):
        block = read_block(folder, number)
        c, context = contexts.weights(block.totals)
        strongest = 1.0 if block.strengths is None else float(block.strengths.max(initial=0.0))
        largest = float(contexts.row_scale(block.totals).max(initial=0.0)) * strongest
        row: list[tuple[Any, Any]] = [(number, pa.int32()), (c.sum(), pa.float64()), (context.sum(), pa.float64())]
        row.append((largest, pa.float64()))
        yield pa.record_batch(
            [pa.array([v], kind) for v, kind in row], names=["number", "weight", "context", "largest"]
        )
