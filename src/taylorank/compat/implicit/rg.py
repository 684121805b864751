"""RG² behind implicit's methods: another model for a script that was written for `AlternatingLeastSquares`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from taylorank import models
from taylorank.compat.implicit.factors import FactorRecommender, Floats
from taylorank.compat.implicit.utils import check_csr, check_rows
from taylorank.data import Interactions
from taylorank.errors import NotFittedError
from taylorank.models import FitProgress


class RG2(FactorRecommender):
    """`taylorank.RG2`, with row and column numbers and implicit's signatures; `model_` is the model itself.

    `user_factors` and `item_factors` are vectors whose inner products are the scores that rank (one number longer than
    `factors`); items are compared by the model's own vectors. Other parameters are those of `taylorank.RG2`.

    >>> import numpy as np
    >>> from scipy.sparse import csr_matrix
    >>> likes = csr_matrix(np.array([[1, 1, 0, 0], [1, 1, 1, 0], [0, 0, 1, 1]], dtype="float32"))
    >>> ids, scores = RG2(factors=2).fit(likes, show_progress=False).recommend(0, likes[0], N=1)
    >>> ids.tolist()
    [2]
    """

    kept = (*FactorRecommender.kept, "own_item_factors")

    def __init__(
        self, factors: int = 128, regularization: float = 0.2, num_threads: int = 0, random_state: int = 0, **more: Any
    ) -> None:
        self.factors, self.regularization = factors, regularization
        self.num_threads, self.random_state, self.more = num_threads, random_state, more
        self.own_item_factors: Floats | None = None
        self.model_: models.RG2 | None = None

    def fit(self, user_items: Any, show_progress: bool = True, callback: Callable[..., object] | None = None) -> RG2:
        """Fit to a matrix of users × items; `callback` is called with (step, seconds, loss), the loss being None."""
        matrix = sparse.csr_array(check_csr(user_items))
        matrix.eliminate_zeros()
        model = models.RG2(
            min(self.factors, *matrix.shape),
            regularization=self.regularization,
            num_threads=self.num_threads or None,
            random_state=self.random_state,
            **self.more,
        )

        def after(step: FitProgress) -> None:
            if callback is not None:
                callback(step.step - 1, step.seconds, None)

        self.model_ = model.fit(matrix, callback=after, progress=None if show_progress else False)
        self.user_factors, self.item_factors = model.export_factors()
        self.own_item_factors = model.item_factors
        return self

    def recalculate_user(self, userid: Any, user_items: Any) -> Floats:
        """Return the vectors of users from their rows: an exact fold-in."""
        if self.model_ is None:
            raise NotFittedError("this RG2 was not fitted here", "fit it, or save and load taylorank.RG2 instead")
        histories = Interactions.from_matrix(check_rows(user_items, userid), items=self.model_.items)
        found = self.model_.fold_in(histories).export_factors()[0]
        return np.asarray(found[0] if np.isscalar(userid) else found)

    def _neighbour_vectors(self) -> Floats:
        return self._fitted(self.own_item_factors)

    def _params(self) -> dict[str, Any]:
        own = {"factors": self.factors, "regularization": self.regularization, "num_threads": self.num_threads}
        return own | {"random_state": self.random_state} | self.more
