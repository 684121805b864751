"""ALS of implicit and iALS of irspack as estimators of this library, so that they can be tuned and compared.

They fit with the peer's own code; ranking and evaluation are ours, the same for all. implicit calls BLAS from its own
threads, so BLAS has one thread while it fits, as its authors advise.
"""

from __future__ import annotations

import copy
import importlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Self, TypeVar

import numpy as np
from scipy import sparse

from taylorank.data import Interactions, read_interactions
from taylorank.errors import MissingExtraError
from taylorank.models.factor import FactorModel
from taylorank.models.histories import over_items
from taylorank.selection.space import SPACES, Space

Peer = TypeVar("Peer", bound=FactorModel)


class ImplicitALS(FactorModel):
    """implicit's AlternatingLeastSquares: Σ α r (P·Q − 1)² over observed pairs, (P·Q)² elsewhere, + λ (‖P‖² + ‖Q‖²)."""

    def __init__(
        self,
        factors: int = 64,
        *,
        alpha: float = 10.0,
        regularization: float = 1.0,
        iterations: int = 16,
        use_cg: bool = True,
        num_threads: int = 0,
        random_state: int = 0,
    ) -> None:
        self.factors = factors
        self.alpha = alpha
        self.regularization = regularization
        self.iterations = iterations
        self.use_cg = use_cg
        self.num_threads = num_threads
        self.random_state = random_state

    def fit(self, train: Any, valid: Interactions | None = None, callback: Any = None) -> Self:
        """Fit to `train`; the callback is called after each sweep, as by our own models."""
        als = peer_module("implicit.cpu.als", "implicit")
        data = read_interactions(train)
        params = {name: value for name, value in self.get_params().items() if name != "use_cg"}
        with _blas_on_one_thread():
            model = als.AlternatingLeastSquares(**params, use_cg=self.use_cg)
            model.fit(
                sparse.csr_matrix(data.matrix),
                show_progress=False,
                callback=None if callback is None else lambda sweep, *_: self._tell(callback, model, data, sweep),
            )
        return self._keep(model, data)

    def _tell(self, callback: Any, model: Any, data: Interactions, sweep: int) -> None:
        callback(PeerProgress(sweep + 1, lambda: type(self)(**self.get_params())._keep(model, data)))

    def _keep(self, model: Any, data: Interactions) -> Self:
        self.train_, self.peer_ = data, model
        self.user_factors_, self.item_factors_ = np.array(model.user_factors), np.array(model.item_factors)
        return self

    def fold_in(self, histories: Any) -> Self:
        """Return this model for other users, by implicit's own `recalculate_user`."""
        data = over_items(read_interactions(histories), self.items)
        matrix = sparse.csr_matrix(data.matrix)
        return _for_users(self, data, self.peer_.recalculate_user(np.arange(data.n_users), matrix))


class IrspackIALS(FactorModel):
    """irspack's iALS with Rendle's objective (see `models.IALS`): α₀ is the weight of unobserved pairs."""

    def __init__(
        self,
        factors: int = 64,
        *,
        unobserved_weight: float = 0.1,
        regularization: float = 0.003,
        nu: float = 1.0,
        iterations: int = 16,
        solver: str = "CG",
        num_threads: int | None = None,
        random_state: int = 0,
    ) -> None:
        self.factors = factors
        self.unobserved_weight = unobserved_weight
        self.regularization = regularization
        self.nu = nu
        self.iterations = iterations
        self.solver = solver
        self.num_threads = num_threads
        self.random_state = random_state

    def fit(self, train: Any, valid: Interactions | None = None, callback: Any = None) -> Self:
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

    def fold_in(self, histories: Any) -> Self:
        """Return this model for other users, by irspack's own `compute_user_embedding`."""
        data = over_items(read_interactions(histories), self.items)
        return _for_users(self, data, self.peer_.compute_user_embedding(sparse.csr_matrix(data.matrix)))


def _for_users(model: Peer, data: Interactions, user_factors: Any) -> Peer:
    other = copy.copy(model)
    other.__dict__ |= {"train_": data, "user_factors_": np.asarray(user_factors)}
    return other


@dataclass(frozen=True, eq=False)
class PeerProgress:
    """What a callback gets after each sweep."""

    step: int
    snapshot: Callable[[], Any]

    def model(self) -> Any:
        """Return the model as it is after this sweep."""
        return self.snapshot()


PEERS: dict[str, type[FactorModel]] = {"implicit-als": ImplicitALS, "irspack-ials": IrspackIALS}
PACKAGES = {"implicit-als": "implicit", "irspack-ials": "irspack"}
# The same objectives as ours, so the same spaces.
PEER_SPACES: dict[str, Space] = {"implicit-als": SPACES["wrmf"], "irspack-ials": SPACES["ials"]}


def peer(name: str) -> FactorModel:
    """Return the peer called `name`, refusing at once if its package is missing."""
    peer_module(PACKAGES[name], PACKAGES[name])
    return PEERS[name]()


def peer_module(module: str, package: str) -> Any:
    """Import a module of a peer, or say which extra has it."""
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
