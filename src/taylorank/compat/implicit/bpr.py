"""`BayesianPersonalizedRanking` with implicit's parameters; it needs torch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import DTypeLike
from scipy import sparse

from taylorank.compat.implicit.factors import FactorRecommender
from taylorank.compat.implicit.utils import check_csr
from taylorank.models import FitProgress
from taylorank.training import Neural


class BayesianPersonalizedRanking(FactorRecommender):
    """Minimise −Σ log σ(o_xy − o_xz) over observed y and drawn z, + ½ λ the squared norms (Rendle et al. 2009).

    Trained with Adam on batches, not pair by pair: a learning rate of implicit means something else here, so it is left
    at the model's own unless it is given.
    """

    def __init__(
        self,
        factors: int = 100,
        learning_rate: float | None = None,
        regularization: float = 0.01,
        dtype: DTypeLike = np.float32,
        iterations: int = 100,
        use_gpu: bool | None = None,
        verify_negative_samples: bool = True,
        num_threads: int = 0,
        random_state: int | None = None,
    ) -> None:
        self.factors, self.learning_rate, self.regularization = factors, learning_rate, regularization
        self.dtype, self.iterations, self.use_gpu = np.dtype(dtype), iterations, use_gpu
        self.verify_negative_samples = verify_negative_samples
        self.num_threads, self.random_state = num_threads, random_state

    def fit(
        self, user_items: Any, show_progress: bool = True, callback: Callable[..., object] | None = None
    ) -> BayesianPersonalizedRanking:
        """Fit to a matrix of users × items; `callback` is called with (epoch, seconds, loss)."""
        matrix = sparse.csr_array(check_csr(user_items))
        matrix.data = (matrix.data > 0).astype(np.float32)
        matrix.eliminate_zeros()
        given: dict[str, Any] = {} if self.learning_rate is None else {"learning_rate": self.learning_rate}
        model = Neural(
            "bpr",
            factors=self.factors,
            regularization=self.regularization,
            epochs=self.iterations,
            random_state=self.random_state or 0,
            device={None: "auto", True: "cuda", False: "cpu"}[self.use_gpu],
            **given,
        )

        def after(step: FitProgress) -> None:
            if callback is not None:
                callback(step.step - 1, step.seconds, step.loss)

        model.fit(matrix, callback=after, progress=None if show_progress else False)
        self.user_factors, self.item_factors = (part.astype(self.dtype) for part in model.export_factors())
        return self

    def _params(self) -> dict[str, Any]:
        names = ("factors", "learning_rate", "regularization", "iterations", "use_gpu", "verify_negative_samples")
        own = {name: getattr(self, name) for name in (*names, "num_threads", "random_state")}
        return own | {"dtype": self.dtype.name}
