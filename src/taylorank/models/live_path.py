"""Every rank and every threshold of one fit, at the price of a request: nothing of the size of the items is copied.

With S' ≈ U Σ Vᵀ, D = (Σ − τ)₊ and 0 beyond the rank, Q = W D^½ for W = q^-½ V C^-¼ (`solvers.spectral`). So

    P_x · Q_y = (D^½ P_x) · W_y,      D^½ P_x = a_x (Σ_y r_xy W_y / I_x − qᵀW) M,      M = D^½ B D^½

where B = (D^½ G D^½ + λ I)⁻¹ and G = Wᵀ diag(q) W. W, qᵀW and G are those of the fit, so that a rank and a threshold
are one K × K matrix M.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, replace
from functools import cached_property
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from taylorank.data import CSR, Ids, Interactions
from taylorank.errors import ParameterError
from taylorank.kernels import ItemVectors
from taylorank.models.fold_in import SharedFoldIn
from taylorank.models.rg import RGFamily
from taylorank.ranking import Ranker, Vectors
from taylorank.solvers import SpectralPath

KEPT = 16


@dataclass(frozen=True, eq=False)
class ThresholdFoldIn(SharedFoldIn):
    """The fold-in above: `item_factors` is W, and the vector of a user is D^½ P_x."""

    whole: SharedFoldIn | None = None  # has qᵀW and G, which all settings share
    roots: NDArray[np.float64] | None = None  # the diagonal of D^½, (K,)

    @property
    def sums(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """qᵀW and G."""
        assert self.whole is not None
        return self.whole.sums

    @cached_property
    def _inverse(self) -> NDArray[np.float64]:
        """M = (G + λ D⁻¹)⁻¹ over the directions that the threshold left; 0 elsewhere."""
        assert self.roots is not None
        left = np.flatnonzero(self.roots)
        system = self.sums[1][np.ix_(left, left)] + np.diag(self.penalty / self.roots[left] ** 2)
        M = np.zeros((len(self.roots), len(self.roots)))
        M[np.ix_(left, left)] = linalg.cho_solve(linalg.cho_factor(system), np.eye(len(left)))
        return M


class LivePath:
    """The rankers of a fitted RG2 or RGX for any rank and threshold; the last few settings are kept.

    >>> import taylorank as tr
    >>> model = tr.RG2(factors=8).fit(tr.planted(100, 40, interactions=2000))
    >>> live = LivePath(model)
    >>> live.max_rank, live.ranker(4, 0.1) is live.ranker(4, 0.1)
    (8, True)
    """

    def __init__(self, model: Any) -> None:
        if not has_live_path(model):
            raise ParameterError(
                f"this {type(model).__name__} keeps no path", "save RG2 or RGX of the spectral solver with path=True"
            )
        self._model: RGFamily = model
        self._path: SpectralPath = model.path_
        self._kept: OrderedDict[tuple[int, float], Ranker] = OrderedDict()
        self._lock = Lock()

    @property
    def max_rank(self) -> int:
        """The rank that was fitted, the largest there is."""
        return len(self._path.svd.values)

    @cached_property
    def _whole(self) -> tuple[ItemVectors, SharedFoldIn]:
        """W, laid out for ranking, and the fold-in that has its sums."""
        model, path = self._model, self._path
        per_item = 1 / (path.context.sum() ** 0.25 * np.sqrt(path.proposal))
        W = path.svd.right * per_item[:, None].astype(path.svd.right.dtype)
        fold_in = SharedFoldIn(
            W,
            path.proposal,
            penalty=0.0,
            context_exponent=model.context_exponent,
            score_penalty=model.score_penalty * model._learned("mean_context_"),
        )
        return ItemVectors(W), fold_in

    def ranker(self, factors: int | None = None, regularization: float | None = None) -> Ranker:
        """Return the ranker of this rank and this share of σ₁; it knows no users: give it `for_histories`."""
        rank = self.max_rank if factors is None else int(factors)
        share = self._model.regularization if regularization is None else float(regularization)
        if not 1 <= rank <= self.max_rank:
            raise ParameterError(f"rank {rank} was not fitted", f"choose 1 to {self.max_rank}")
        self._model._check_regularization(share)
        with self._lock:
            kept = self._kept.pop((rank, share), None) or self._build(rank, share)
            self._kept[rank, share] = kept
            while len(self._kept) > KEPT:
                self._kept.popitem(last=False)
        return kept

    def _build(self, rank: int, share: float) -> Ranker:
        path = self._path
        items, whole = self._whole
        roots = np.sqrt(np.maximum(path.svd.values - path.threshold(share), 0.0))
        roots[rank:] = 0.0
        fold_in = ThresholdFoldIn(
            whole.item_factors,
            whole.proposal,
            penalty=path.penalty(share),
            context_exponent=whole.context_exponent,
            score_penalty=whole.score_penalty,
            whole=whole,
            roots=roots,
        )
        model = self._model.ranker
        assert model.vectors is not None
        rows = np.zeros((0, self.max_rank), dtype=whole.item_factors.dtype)
        vectors = Vectors(rows, items, scales=model.vectors.scales, offsets=model.vectors.offsets, fold_in=fold_in)
        nobody = Ids(model.users.values[:0])
        nothing = CSR(np.zeros(1, dtype=np.int64), np.empty(0, dtype=np.int32), None, len(items))
        return replace(model, users=nobody, seen=Interactions(nothing, nobody, model.items), vectors=vectors)


def has_live_path(model: Any) -> bool:
    """Return whether a model is of the RG family, with the weighted penalty, and has its SVD."""
    return isinstance(model, RGFamily) and model.penalty == "weighted" and model.__dict__.get("path_") is not None
