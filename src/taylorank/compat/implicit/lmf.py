"""`LogisticMatrixFactorization` with implicit's parameters; it needs torch."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from taylorank.compat.implicit.trained import TrainedRecommender


class LogisticMatrixFactorization(TrainedRecommender):
    """Minimise −Σ [log σ(o_xy) + Σ_z log σ(−o_xz)] + ½ λ (‖P‖² + ‖Q‖²), with `neg_prop` draws z for each observed y.

    o_xy = P_x·Q_y + b_y + a_x (Johnson 2014). Entries count as 1, whatever their value. Trained with Adam on batches,
    where implicit takes steps of AdaGrad over whole users: a learning rate of implicit means something else here, so it
    is left at the model's own unless it is given. λ is shared out over the pairs, so that the penalty of a batch is its
    share of the whole; vectors that are in more pairs get more of it.
    """

    def __init__(
        self,
        factors: int = 30,
        learning_rate: float | None = None,
        regularization: float = 0.6,
        dtype: DTypeLike = np.float32,
        iterations: int = 30,
        neg_prop: int = 30,
        use_gpu: bool | None = None,
        num_threads: int = 0,
        random_state: int | None = None,
    ) -> None:
        super().__init__(factors, learning_rate, regularization, dtype, iterations, use_gpu, num_threads, random_state)
        self.neg_prop = neg_prop

    def _loss(self, matrix: Any) -> dict[str, Any]:
        terms = 3 * max(matrix.nnz, 1)  # a pair has a user, a positive and the mean of its draws
        return {
            "loss": "bce",
            "negatives": self.neg_prop,
            "regularization": self.regularization * sum(matrix.shape) / terms,
            "options": {"negative_weight": self.neg_prop, "user_bias": True, "item_bias": True},
        }

    def _params(self) -> dict[str, Any]:
        return {**super()._params(), "neg_prop": self.neg_prop}
