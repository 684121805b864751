"""EASE: every item's regression on the others, or on those most like it."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from taylorank.checks import typed
from taylorank.data import Interactions
from taylorank.errors import ParameterError
from taylorank.kernels.blas import single_threaded
from taylorank.kernels.thread_limit import on_own_threads
from taylorank.models.fitting import FitProgress
from taylorank.models.histories import training_data
from taylorank.models.item_based import ItemWeights
from taylorank.models.local_ease import local_weights
from taylorank.models.parameters import check_parameters
from taylorank.models.recommender import Recommender
from taylorank.progress import Show, narrated_fit, report
from taylorank.solvers.inverse import SingularError, Strip, invert_in_place
from taylorank.system import available_memory
from taylorank.torch_extra import torch_device

BLOCK = 512  # columns of a strip of P
MOST_ITEMS = 30_000  # where the free memory is unknown


@dataclass(eq=False, repr=False)
class EASE(ItemWeights, Recommender):
    """Minimise ‖R − R W‖² + λ ‖W‖² with diag(W) = 0 (Steck, "Embarrassingly shallow autoencoders", WWW 2019).

    W_ij = −P_ij / P_jj off the diagonal, with P = (RᵀR + λ I)⁻¹, inverted in place: N³ operations, and 8 N² bytes (4
    for half of P, 4 for W). With `neighbours` = k each item has weights from the k items most like it alone
    (`local_weights`): N k³ / 3 operations, k weights an item, and often as good or better. `device` is "cpu", "cuda",
    or "auto": cuda where torch sees one.

    >>> from taylorank.data import planted
    >>> train, valid, test = planted(200, 80, interactions=3000).split()
    >>> EASE(regularization=50).fit(train).recommend([0], n=3)[0].shape
    (1, 3)
    >>> int((EASE(50, neighbours=10).fit(train).item_weights_ != 0).sum(axis=0).max())
    10
    """

    regularization: float = 200.0
    _: KW_ONLY
    neighbours: int | None = None
    max_items: int | None = None
    device: Literal["auto", "cpu", "cuda"] = "auto"

    @on_own_threads
    @narrated_fit
    @typed
    def fit(
        self, train: Any, valid: Interactions | None = None, callback: Any = None, *, progress: Show = None
    ) -> Self:
        """Fit to `train`: `Interactions`, or a SciPy matrix (users × items).

        `callback` is called with the number of columns of P that are done (`FitProgress`); it cannot stop the fit, as
        there is no W before the last.
        """
        data = training_data(train)
        check_parameters(self)
        if self.regularization == 0:
            raise ParameterError(f"regularization={self.regularization}", "use a number > 0, such as 200")
        device = torch_device(self.device)
        with np.errstate(over="ignore"):
            weights = self._solved(data, callback) if device is None else self._solved_on(device, data)
        self._check_finite(weights)
        self.train_, self.item_weights_ = data, weights
        return self

    def _solved_on(self, device: str, data: Interactions) -> Any:
        if self.neighbours is not None:
            from taylorank.models.local_ease_cuda import local_weights as weights_on

            return weights_on(data, self.regularization, self.neighbours, device)
        from taylorank.models.ease_cuda import ease_weights

        return ease_weights(data, self.regularization, device)

    def _solved(self, data: Interactions, callback: Any) -> Any:
        if self.neighbours is not None:
            with single_threaded():
                return local_weights(data, self.regularization, self.neighbours, _reporter(callback))
        self._check_memory(data.n_items)
        strips = _gram_strips(data)
        for strip in strips:
            strip[np.diag_indices(strip.shape[1])] += self.regularization
        self._invert(strips, callback)
        return _weights(strips)

    def _check_finite(self, weights: Any) -> None:
        """Refuse weights beyond single precision: strengths of two items can differ by more than its range."""
        values = weights.data if sparse.issparse(weights) else weights
        if isinstance(values, np.ndarray) and values.size and not np.isfinite((values.min(), values.max())).all():
            raise ParameterError(
                f"regularization={self.regularization} is too small for strengths as different as these",
                "raise it, or bring the strengths nearer to each other",
            )

    def _score_rows(self) -> Callable[[sparse.csr_array], NDArray[Any]] | None:
        device = torch_device(self.device)
        if device is None:
            return None
        weights = self._kept_weights()
        if sparse.issparse(weights):
            from taylorank.models.neighbours_cuda import NeighbourScores

            return NeighbourScores(weights, device)
        from taylorank.models.ease_cuda import DeviceScores

        return DeviceScores(weights)

    def _kept_weights(self) -> Any:
        weights = self._learned("item_weights_")
        return weights if sparse.issparse(weights) else self._where_it_ranks("item_weights_")

    def _invert(self, strips: list[Strip], callback: Callable[[FitProgress], object] | None) -> None:
        try:
            invert_in_place(strips, after_strip=_reporter(callback))
        except SingularError as error:
            raise ParameterError(
                f"regularization={self.regularization} is too small for strengths as large as these",
                "raise it, or scale the strengths down",
            ) from error

    def _check_memory(self, n_items: int) -> None:
        needed, free = 8 * n_items**2 + 16 * BLOCK * n_items, available_memory()
        limit = MOST_ITEMS if self.max_items is None and free is None else self.max_items
        if limit is not None and n_items > limit:
            raise ParameterError(
                f"{n_items:,} items are more than max_items={limit:,}",
                f"give neighbours=256, or raise max_items: EASE needs about {needed / 2**30:.1f} GiB for them",
            )
        if limit is None and free is not None and needed > free:
            raise ParameterError(
                f"EASE on {n_items:,} items needs about {needed / 2**30:.1f} GiB and {free / 2**30:.1f} are free",
                f"give neighbours=256, or clean the data; max_items={n_items} tries it anyway",
            )


def _reporter(callback: Callable[[FitProgress], object] | None) -> Callable[[int], None]:
    """What is called with the number of columns that are done."""
    began = time.perf_counter()

    def after(columns: int) -> None:
        report(f"{columns:,} columns")
        if callback is not None:
            callback(FitProgress(columns, time.perf_counter() - began))

    return after


def _gram_strips(data: Interactions) -> list[Strip]:
    """Return strips of columns of RᵀR, from the diagonal down; squares of large strengths overflow single precision."""
    by_item, by_user = data.by_item.to_scipy().astype(np.float64), data.matrix.astype(np.float64).tocsc()
    starts = range(0, data.n_items, BLOCK)
    return [(by_item[start : start + BLOCK] @ by_user[:, start:]).toarray().T for start in starts]


def _weights(inverse: list[Strip]) -> NDArray[np.float32]:
    """Return W_ij = −P_ij / P_jj with a diagonal of zeros, (N, N), from strips of P."""
    diagonal = np.concatenate([np.diag(strip) for strip in inverse])
    weights = np.zeros((len(diagonal), len(diagonal)), dtype=np.float32)
    for start, strip in zip(range(0, len(diagonal), BLOCK), inverse, strict=True):
        stop = start + strip.shape[1]
        corner, below = np.tril(strip[: strip.shape[1]], -1), strip[strip.shape[1] :]
        weights[start:stop, start:stop] = (corner + corner.T) / -diagonal[start:stop]
        weights[stop:, start:stop] = below / -diagonal[start:stop]
        weights[start:stop, stop:] = below.T / -diagonal[stop:]
    return weights
