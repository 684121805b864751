"""`AlternatingLeastSquares` with implicit's parameters, by this library's solver."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray
from scipy import linalg, sparse

from taylorank.compat.implicit.factors import FactorRecommender, Floats
from taylorank.compat.implicit.utils import check_csr, check_random_state, check_rows, nonzeros
from taylorank.data import CSR
from taylorank.errors import DataError, ParameterError
from taylorank.kernels import row_solve
from taylorank.kernels.arrays import to_numpy
from taylorank.kernels.thread_limit import threads
from taylorank.objectives.weighted import Weighted
from taylorank.progress import shown_progress
from taylorank.solvers import AlsSweep, solve_row_als
from taylorank.torch_extra import torch_device

Explained = tuple[float, list[tuple[int, float]], Any]


class AlternatingLeastSquares(FactorRecommender):
    """Minimise Σ_xy c_xy (P_x·Q_y − p_xy)² + λ (‖P‖² + ‖Q‖²), c = `α |r|` on stored pairs and 1 elsewhere.

    p_xy is 1 where r_xy > 0, else 0; a stored r < 0 says with confidence that the user does not like the item.
    `use_cg` chooses the solver: True the faster of exact rows and conjugate gradients, False exact rows.
    `use_gpu` None computes on a CUDA device where torch sees one. `use_native` changes nothing.
    """

    def __init__(
        self,
        factors: int = 100,
        regularization: float = 0.01,
        alpha: float = 1.0,
        dtype: DTypeLike = np.float32,
        use_native: bool = True,
        use_cg: bool = True,
        use_gpu: bool | None = None,
        iterations: int = 15,
        calculate_training_loss: bool = False,
        num_threads: int = 0,
        random_state: Any = None,
    ) -> None:
        self.factors, self.regularization, self.alpha = factors, regularization, alpha
        self.dtype = np.dtype(dtype)
        self.use_native, self.use_cg, self.use_gpu = use_native, use_cg, use_gpu
        self.iterations, self.calculate_training_loss = iterations, calculate_training_loss
        self.num_threads, self.random_state = num_threads, random_state
        self.fit_callback: Callable[..., object] | None = None

    def fit(
        self, user_items: Any, show_progress: bool = True, callback: Callable[..., object] | None = None
    ) -> AlternatingLeastSquares:
        """Fit to a matrix of users × items; factors that are there already are where it begins.

        `callback` is called with (iteration, seconds, loss); the loss is None without `calculate_training_loss`.
        """
        matrix = check_csr(user_items)
        objective = self._objective(matrix)
        start = self._start(matrix.shape)
        call, began = callback or self.fit_callback, time.perf_counter()
        if self.iterations < 1:
            self._keep(start)
            return self
        weight = float(np.abs(self.alpha * matrix.data).sum() + np.prod(matrix.shape) - matrix.nnz)
        with shown_progress("fitting", total=self.iterations, show=show_progress) as progress, self._threads():

            def after(sweep: AlsSweep) -> None:
                nonlocal began
                loss = sweep.loss / weight if self.calculate_training_loss else None
                progress(sweep.sweep, "" if loss is None else f"loss {loss:.4g}")
                if call is not None:
                    call(sweep.sweep - 1, time.perf_counter() - began, loss)
                began = time.perf_counter()

            found = solve_row_als(
                objective,
                self.factors,
                sweeps=self.iterations,
                method="auto" if self.use_cg else "cholesky",
                start=start,
                callback=after,
                device=torch_device({None: "auto", True: "cuda", False: "cpu"}[self.use_gpu]),
            )
        self._keep((to_numpy(found[0]), to_numpy(found[1])))
        return self

    def recalculate_user(self, userid: Any, user_items: Any) -> Floats:
        """Return the exact vectors of users from their rows, (K,) for one, (len(userid), K) for several."""
        return self._solved(userid, check_rows(user_items, userid), self._item_factors())

    def recalculate_item(self, itemid: Any, item_users: Any) -> Floats:
        """Return the exact vectors of items from rows of item × user."""
        return self._solved(itemid, check_rows(item_users, itemid, "item_users"), self._user_factors())

    def partial_fit_users(self, userids: ArrayLike, user_items: Any) -> None:
        """Compute the vectors of these users anew, and keep them; numbers beyond the last make room."""
        ids = np.asarray(userids)
        self.user_factors = _with_rows(self._user_factors(), ids, self.recalculate_user(ids, user_items))

    def partial_fit_items(self, itemids: ArrayLike, item_users: Any) -> None:
        """Compute the vectors of these items anew, and keep them; numbers beyond the last make room."""
        ids = np.asarray(itemids)
        self.item_factors = _with_rows(self._item_factors(), ids, self.recalculate_item(ids, item_users))

    def explain(self, userid: int, user_items: Any, itemid: int, user_weights: Any = None, N: int = 10) -> Explained:
        """Return the score of an item, the N liked items that add most to it, and what a next call takes for speed.

        `user_items` is the matrix that was fitted: the user is its row `userid`.
        """
        Q = self._item_factors().astype(np.float64)
        row = list(nonzeros(check_csr(user_items), userid))
        liked, confidence = np.array([i for i, _ in row], dtype=np.int64), np.array([self.alpha * c for _, c in row])
        if user_weights is None:
            extra = (np.abs(confidence) - 1)[:, None]
            A = Q.T @ Q + (Q[liked] * extra).T @ Q[liked] + self.regularization * np.eye(Q.shape[1])
            user_weights = linalg.cho_factor(A)
        added = np.maximum(confidence, 0) * (Q[liked] @ linalg.cho_solve(user_weights, Q[itemid]))
        order = [place for place in np.argsort(-added, kind="stable") if confidence[place] > 0][:N]
        return float(added.sum()), [(int(liked[i]), float(added[i])) for i in order], user_weights

    @property
    def YtY(self) -> Floats:  # noqa: N802
        """The item factors' Gram matrix QᵀQ, (K, K)."""
        Q = self._item_factors()
        return Q.T @ Q

    @property
    def XtX(self) -> Floats:  # noqa: N802
        """The user factors' Gram matrix PᵀP, (K, K)."""
        P = self._user_factors()
        return P.T @ P

    def to_gpu(self) -> AlternatingLeastSquares:
        """Return the model for a CUDA device; its arrays stay NumPy arrays."""
        self.use_gpu = True
        return self

    def to_cpu(self) -> AlternatingLeastSquares:
        """Return the model for the CPU."""
        self.use_gpu = False
        return self

    def _objective(self, matrix: Any) -> Weighted:
        if not np.isfinite(matrix.data).all():
            raise DataError("the matrix holds a value that is not finite", "remove it")
        rows = sparse.csr_array(matrix)
        rows.sum_duplicates()
        confidence = (self.alpha * rows.data).astype(np.float32)
        n_users, n_items = rows.shape
        return Weighted(
            CSR(rows.indptr.astype(np.int64), rows.indices.astype(np.int32), None, n_items),
            np.ones(n_users),
            np.ones(n_items),
            np.abs(confidence) - 1,
            np.maximum(confidence, 0),
            np.full(n_users, float(self.regularization)),
            np.full(n_items, float(self.regularization)),
            float(np.maximum(confidence, 0).sum(dtype=np.float64)),
        )

    def _solved(self, ids: Any, rows: Any, factors: Floats) -> Floats:
        if rows.shape[1] > len(factors):
            raise ParameterError(f"the rows have {rows.shape[1]} columns for {len(factors)} vectors", "cut them")
        plain = sparse.csr_array((rows.data, rows.indices, rows.indptr), shape=(rows.shape[0], len(factors)))
        with self._threads():
            found = row_solve(self._objective(plain).user_system(factors), factors, method="cholesky")
        return found[0] if np.isscalar(ids) else found

    def _start(self, shape: tuple[int, int]) -> tuple[Floats, Floats]:
        rng = check_random_state(self.random_state)
        kept = (self.user_factors, self.item_factors)
        found = []
        for count, factors in zip(shape, kept, strict=True):
            if factors is not None and factors.shape != (count, self.factors):
                raise ParameterError(
                    f"the factors kept are {factors.shape}, the matrix asks for {(count, self.factors)}",
                    "fit a new model, or set user_factors and item_factors to None",
                )
            kind: Any = self.dtype.type
            found.append(rng.random((count, self.factors), dtype=kind) * kind(0.01) if factors is None else factors)
        return found[0], found[1]

    def _keep(self, factors: tuple[Floats, Floats]) -> None:
        self.user_factors, self.item_factors = (part.astype(self.dtype, copy=False) for part in factors)

    def _threads(self) -> Any:
        return threads(self.num_threads or None)

    def _params(self) -> dict[str, Any]:
        names = ("factors", "regularization", "alpha", "use_native", "use_cg", "use_gpu", "iterations")
        seed = self.random_state if isinstance(self.random_state, int) else None
        more = {"calculate_training_loss": self.calculate_training_loss, "num_threads": self.num_threads}
        return {name: getattr(self, name) for name in names} | more | {"dtype": self.dtype.name, "random_state": seed}


def _with_rows(factors: NDArray[Any], ids: NDArray[np.int64], rows: NDArray[Any]) -> NDArray[Any]:
    """Return the factors with some rows replaced, and longer if need be."""
    most = max(len(factors), int(ids.max()) + 1) if ids.size else len(factors)
    grown = np.zeros((most, factors.shape[1]), dtype=factors.dtype)
    grown[: len(factors)] = factors
    grown[ids] = rows
    return grown
