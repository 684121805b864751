"""ALS of implicit and iALS of irspack as estimators of this library, so that they can be tuned and compared.

They fit with the peer's own code; ranking and evaluation are ours, the same for all. implicit calls BLAS from its own
threads, so BLAS has one thread while it fits, as its authors advise.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
from scipy import sparse

from taylorank.data import Interactions, read_interactions
from taylorank.errors import MissingExtraError, ParameterError
from taylorank.kernels import ItemVectors
from taylorank.models.factor import FactorModel
from taylorank.models.recommender import Recommender
from taylorank.progress import Show
from taylorank.ranking import Ranker, Vectors
from taylorank.selection.ranges import Space
from taylorank.selection.spaces import SPACES


@dataclass(eq=False, repr=False)
class ImplicitALS(FactorModel, Recommender):
    """implicit's AlternatingLeastSquares: Σ α r (P·Q − 1)² over observed pairs, (P·Q)² elsewhere, + λ (‖P‖² + ‖Q‖²)."""

    factors: int = 64
    _: KW_ONLY
    alpha: float = 10.0
    regularization: float = 1.0
    iterations: int = 16
    use_cg: bool = True
    num_threads: int | None = None
    random_state: int = 0

    def fit(
        self, train: Any, valid: Interactions | None = None, callback: Any = None, *, progress: Show = None
    ) -> Self:
        """Fit to `train`; the callback is called after each sweep, as by our own models."""
        als = peer_module("implicit.cpu.als", "implicit")
        data = read_interactions(train)
        params = self.get_params() | {"num_threads": self.num_threads or 0}  # to implicit 0 means all
        with _blas_on_one_thread():
            model = als.AlternatingLeastSquares(**params)
            model.fit(
                sparse.csr_matrix(data.matrix, copy=True),  # which implicit may write to, as with alpha=1
                show_progress=False,
                callback=None if callback is None else lambda sweep, *_: self._report(callback, model, data, sweep),
            )
        return self._keep(model, data)

    def _report(self, callback: Any, model: Any, data: Interactions, sweep: int) -> None:
        callback(PeerProgress(sweep + 1, lambda: type(self)(**self.get_params())._keep(model, data)))

    def _keep(self, model: Any, data: Interactions) -> Self:
        self.train_, self.peer_ = data, model
        self.user_factors_, self.item_factors_ = np.array(model.user_factors), np.array(model.item_factors)
        return self

    def _build_ranker(self) -> Ranker:
        def rows(matrix: sparse.csr_matrix) -> Any:
            return self.peer_.recalculate_user(np.arange(matrix.shape[0]), matrix)

        return self._ranker_with(vectors=_vectors(self, rows))


@dataclass(eq=False, repr=False)
class IrspackIALS(FactorModel, Recommender):
    """irspack's iALS with Rendle's objective (see `models.IALS`): α₀ is the weight of unobserved pairs."""

    factors: int = 64
    _: KW_ONLY
    unobserved_weight: float = 0.1
    regularization: float = 0.003
    nu: float = 1.0
    iterations: int = 16
    solver: str = "CG"
    num_threads: int | None = None
    random_state: int = 0

    def fit(
        self, train: Any, valid: Interactions | None = None, callback: Any = None, *, progress: Show = None
    ) -> Self:
        """Fit to `train`; the callback is called after each epoch, as by our own models."""
        peer = peer_module("irspack.recommenders.ials", "irspack")
        data = read_interactions(train)
        model = peer.IALSRecommender(
            sparse.csr_matrix(data.matrix),
            n_components=self.factors,
            alpha0=self.unobserved_weight,
            reg=self.regularization,
            nu=self.nu,
            loss_type="IALSPP",
            solver_type=self.solver,
            train_epochs=self.iterations,
            n_threads=self.num_threads,
            random_seed=self.random_state,
        )
        model.start_learning()
        for sweep in range(self.iterations):
            model.run_epoch()
            now = PeerProgress(sweep + 1, lambda: type(self)(**self.get_params())._keep(model, data))
            if callback is not None and callback(now):
                break
        return self._keep(model, data)

    def _keep(self, model: Any, data: Interactions) -> Self:
        self.train_, self.peer_ = data, model
        self.user_factors_ = np.array(model.get_user_embedding())
        self.item_factors_ = np.array(model.get_item_embedding())
        return self

    def _build_ranker(self) -> Ranker:
        return self._ranker_with(vectors=_vectors(self, self.peer_.compute_user_embedding))


def _vectors(model: Any, rows: Callable[[sparse.csr_matrix], Any]) -> Vectors:
    return Vectors(model.user_factors, ItemVectors(model.item_factors), fold_in=PeerFoldIn(rows))


@dataclass(frozen=True, eq=False)
class PeerFoldIn:
    """The vectors of new users by the peer's own function of their histories, (B, N) to (B, K)."""

    function: Callable[[sparse.csr_matrix], Any]

    def rows(self, histories: Interactions) -> Any:
        """Return the vector of each user, (B, K)."""
        return np.asarray(self.function(sparse.csr_matrix(histories.matrix)))

    def contributions(self, history: Interactions, vector: Any) -> Any:
        """Refuse: the peer has no such function."""
        raise ParameterError("this peer cannot explain its scores", "explain another model")


@dataclass(frozen=True, eq=False)
class PeerProgress:
    """The argument of a callback after each sweep."""

    step: int
    snapshot: Callable[[], Any]

    def model(self) -> Any:
        """Return the model as it is after this sweep."""
        return self.snapshot()


PEERS: dict[str, type[Recommender]] = {"implicit-als": ImplicitALS, "irspack-ials": IrspackIALS}
PACKAGES = {"implicit-als": "implicit", "irspack-ials": "irspack"}
# The same objectives as ours, so the same spaces.
PEER_SPACES: dict[str, Space] = {"implicit-als": SPACES["wrmf"], "irspack-ials": SPACES["ials"]}


def peer(name: str) -> Recommender:
    """Return the peer called `name`, refusing at once if its package is missing."""
    peer_module(PACKAGES[name], PACKAGES[name])
    return PEERS[name]()


def peer_module(module: str, package: str) -> Any:
    """Import a module of a peer; if it is missing, name the extra that has it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise MissingExtraError(f"{package} is not installed", "pip install 'taylorank[peers]'") from error


@contextmanager
def _blas_on_one_thread() -> Iterator[None]:
    try:
        limits = importlib.import_module("threadpoolctl").threadpool_limits
    except ImportError:
        yield
        return
    with limits(1, "blas"):
        yield
