"""`BayesianPersonalizedRanking` with implicit's parameters; it needs torch."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from taylorank.compat.implicit.trained import TrainedRecommender


class BayesianPersonalizedRanking(TrainedRecommender):
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
        num_threads: int = 0,
        verify_negative_samples: bool = True,
        random_state: int | None = None,
    ) -> None:
        super().__init__(factors, learning_rate, regularization, dtype, iterations, use_gpu, num_threads, random_state)
        self.verify_negative_samples = verify_negative_samples

    def to_gpu(self) -> BayesianPersonalizedRanking:
        """Return the model for a CUDA device; its arrays stay NumPy arrays."""
        self.use_gpu = True
        return self

    def _loss(self, matrix: Any) -> dict[str, Any]:
        return {"loss": "bpr", "regularization": self.regularization}

    def _params(self) -> dict[str, Any]:
        return {**super()._params(), "verify_negative_samples": self.verify_negative_samples}
