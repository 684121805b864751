"""The user-item graph and its propagation, which is its own gradient."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from taylorank.data.csr import CSR, INDEX_LIMIT
from taylorank.kernels.cuda import DeviceRows, gather_sum


class Graph(nn.Module):
    """A = D^(−½) [[0, R], [Rᵀ, 0]] D^(−½), (M + N) × (M + N), with R binary and D the degrees, in CSR.

    The arrays are buffers, so they follow the model to its device, but they are not saved with it.
    """

    indptr: Tensor
    indices: Tensor
    values: Tensor

    def __init__(self, by_user: CSR) -> None:
        super().__init__()
        by_item = by_user.transpose()
        degrees = np.concatenate((by_user.row_lengths, by_item.row_lengths))
        scale = 1 / np.sqrt(np.maximum(degrees, 1))
        indices = np.concatenate((by_user.indices + np.int64(by_user.n_rows), by_item.indices))
        indptr = np.concatenate((by_user.indptr, by_user.nnz + by_item.indptr[1:]))
        values = np.repeat(scale, degrees) * scale[indices]
        index_type = torch.int32 if len(indices) < INDEX_LIMIT else torch.int64
        self.register_buffer("indptr", torch.from_numpy(indptr).to(index_type), persistent=False)
        self.register_buffer("indices", torch.from_numpy(indices).to(index_type), persistent=False)
        self.register_buffer("values", torch.from_numpy(values).float(), persistent=False)
        self._rows: DeviceRows | None = None

    def product(self, vectors: Tensor) -> Tensor:
        """Return A X, (M + N, K), without gradient."""
        values = self.values.to(vectors.dtype)
        if vectors.device.type == "cpu":  # the summing kernel is vectorised and needs no MKL
            return functional.embedding_bag(
                self.indices, vectors, self.indptr, mode="sum", per_sample_weights=values, include_last_offset=True
            )
        return gather_sum(self.rows, vectors, weights=values).to(vectors.dtype)

    @property
    def rows(self) -> DeviceRows:
        """A without its values, where the buffers are."""
        if self._rows is None or self._rows.device != self.indices.device:
            self._rows = DeviceRows(self.indptr.long(), self.indices, None, len(self.indptr) - 1)
        return self._rows

    def propagate(self, vectors: Tensor, layers: int) -> Tensor:
        """Return (X + A X + … + A^L X) / (L + 1), with gradient."""
        apply: Any = _Propagation.apply  # torch leaves it without a type
        result: Tensor = apply(vectors, self, layers)
        return result


class _Propagation(torch.autograd.Function):
    """X ↦ Σ_l A^l X / (L + 1). A is symmetric, so the gradient is the same map: nothing is saved or transposed."""

    @staticmethod
    def forward(vectors: Tensor, graph: Graph, layers: int) -> Tensor:
        layer, total = vectors, vectors.clone()
        for _ in range(layers):
            layer = graph.product(layer)
            total += layer
        return total.div_(layers + 1)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        _, ctx.graph, ctx.layers = inputs

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None, None]:
        return ctx.graph.propagate(gradients[0], ctx.layers), None, None

    @staticmethod
    def jvp(ctx: Any, *tangents: Any) -> Tensor:
        result: Tensor = ctx.graph.propagate(tangents[0], ctx.layers)
        return result
