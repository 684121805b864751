"""The user-item graph and its propagation, which is its own gradient."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from taylorank.data.csr import CSR, INDEX_LIMIT


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
        index_type = torch.int32 if len(indices) < INDEX_LIMIT else torch.int64  # cuSPARSE is fastest on int32
        self.register_buffer("indptr", torch.from_numpy(indptr).to(index_type), persistent=False)
        self.register_buffer("indices", torch.from_numpy(indices).to(index_type), persistent=False)
        self.register_buffer("values", torch.from_numpy(values).float(), persistent=False)

    def product(self, vectors: Tensor) -> Tensor:
        """Return A X, (M + N, K), without gradient."""
        values = self.values.to(vectors.dtype)
        if vectors.device.type == "cpu":  # the summing kernel is vectorised and needs no MKL
            return functional.embedding_bag(
                self.indices, vectors, self.indptr, mode="sum", per_sample_weights=values, include_last_offset=True
            )
        return csr_product(self.indptr, self.indices, values, vectors)

    def propagate(self, vectors: Tensor, layers: int) -> Tensor:
        """Return (X + A X + … + A^L X) / (L + 1), with gradient."""
        apply: Any = _Propagation.apply  # torch leaves it without a type
        result: Tensor = apply(vectors, self, layers)
        return result


def csr_product(indptr: Tensor, indices: Tensor, values: Tensor, vectors: Tensor) -> Tensor:
    """Return A X through torch's CSR tensors: cuSPARSE on a GPU."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Sparse CSR tensor support is in beta")
        size = (len(indptr) - 1, len(vectors))
        matrix = torch.sparse_csr_tensor(indptr, indices, values, size=size, check_invariants=False)
        return matrix @ vectors


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
