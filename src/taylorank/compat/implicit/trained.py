"""What models trained by torch have in common: a `Neural` behind implicit's methods."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import DTypeLike
from scipy import sparse

from taylorank.compat.implicit.factors import FactorRecommender
from taylorank.compat.implicit.utils import check_csr
from taylorank.models import FitProgress
from taylorank.training import Neural


class TrainedRecommender(FactorRecommender):
    """Factors trained with Adam on batches of positive entries, each counted once; subclasses name the loss."""

    def __init__(
        self,
        factors: int,
        learning_rate: float | None,
        regularization: float,
        dtype: DTypeLike,
        iterations: int,
        use_gpu: bool | None,
        num_threads: int,
        random_state: int | None,
    ) -> None:
        self.factors, self.learning_rate, self.regularization = factors, learning_rate, regularization
        self.dtype, self.iterations, self.use_gpu = np.dtype(dtype), iterations, use_gpu
        self.num_threads, self.random_state = num_threads, random_state

    def fit(self, user_items: Any, show_progress: bool = True, callback: Callable[..., object] | None = None) -> Self:
        """Fit to a matrix of users × items; `callback` is called with (epoch, seconds, loss)."""
        matrix = sparse.csr_array(check_csr(user_items))
        matrix.data = (matrix.data > 0).astype(np.float32)
        matrix.eliminate_zeros()
        rate: dict[str, Any] = {} if self.learning_rate is None else {"learning_rate": self.learning_rate}
        model = Neural(
            factors=self.factors,
            epochs=self.iterations,
            random_state=self.random_state or 0,
            num_threads=self.num_threads or None,
            device={None: "auto", True: "cuda", False: "cpu"}[self.use_gpu],
            **rate,
            **self._loss(matrix),
        )

        def after(step: FitProgress) -> None:
            if callback is not None:
                callback(step.step - 1, step.seconds, step.loss)

        model.fit(matrix, callback=after, progress=None if show_progress else False)
        self.user_factors, self.item_factors = (part.astype(self.dtype) for part in model.export_factors())
        return self

    def _loss(self, matrix: Any) -> dict[str, Any]:
        """Return the parameters of `Neural` that make the loss."""
        raise NotImplementedError

    def _params(self) -> dict[str, Any]:
        names = ("factors", "learning_rate", "regularization", "iterations", "use_gpu", "num_threads", "random_state")
        return {**{name: getattr(self, name) for name in names}, "dtype": self.dtype.name}
