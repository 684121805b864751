"""Models that score an item by the items in a user's history, and the plainest: item neighbours."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from functools import cache
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from taylorank.checks import typed
from taylorank.data import Interactions
from taylorank.data.frames import AsFrame
from taylorank.data.units import in_units
from taylorank.kernels import top_k_scores
from taylorank.kernels.arrays import to_numpy
from taylorank.kernels.dispatch import is_tensor
from taylorank.models.histories import training_data
from taylorank.models.largest_entries import is_thin, largest_entries
from taylorank.models.parameters import check_parameters
from taylorank.models.recommender import MixinBase, Recommender
from taylorank.progress import Show, narrated_fit, report
from taylorank.ranking import HistoryScores, Ranker, similar_items
from taylorank.ranking.list_table import neighbour_table
from taylorank.torch_extra import torch_device

BLOCK = 512


class ItemWeights(MixinBase):
    """Scores are R W, with W (N, N) learned from the training data and R the histories of the users."""

    item_weights_: Any
    learned_shapes: ClassVar[Mapping[str, tuple[str, ...]]] = {"item_weights_": ("items", "items")}

    def _build_ranker(self) -> Ranker:
        weights = self._kept_weights()
        plain = cache(lambda: to_numpy(weights) if is_tensor(weights) else weights)  # in host memory
        return self._ranker_with(
            histories=_scores_by(weights, self._score_rows()),
            similarities=lambda items: _dense(plain()[items]),
            contributions=lambda history, column: (history.by_user.indices, _added(plain(), history, column), 0.0),
        )

    def _kept_weights(self) -> Any:
        """W where it ranks."""
        return self._learned("item_weights_")

    def _score_rows(self) -> Callable[[sparse.csr_array], NDArray[Any]] | None:
        """What scores rows of histories in place of a product on the CPU, if anything does."""
        return None

    @typed
    def similar_items(self, items: Sequence[Any], n: int = 10, *, as_frame: AsFrame = False) -> Any:
        """Return ids and weights W_ij > 0 of the n items j with the largest, itself left out.

        `as_frame` gives a table of item, rank, similar and similarity, as in `recommend`.
        """
        lists = similar_items(self, items, n)
        return lists if as_frame is False else neighbour_table(items, lists, as_frame)


def _scores_by(weights: Any, score: Callable[[sparse.csr_array], NDArray[Any]] | None) -> HistoryScores:
    """R W; a user is cold if the rows of W of all items in the history are empty."""
    has_weights = np.diff(weights.indptr) > 0 if sparse.issparse(weights) else to_numpy(weights.any(1))
    return HistoryScores(
        score=score or (lambda rows: _dense(rows @ weights)),
        is_cold=lambda rows: rows @ has_weights.astype(np.float32) == 0,
    )


def _dense(matrix: Any) -> NDArray[np.float32]:
    dense = matrix.toarray() if sparse.issparse(matrix) else np.asarray(matrix)
    return dense.astype(np.float32, copy=False)


def _added(weights: Any, history: Interactions, column: int) -> NDArray[np.float64]:
    """r_j W_jy of each item j of the history."""
    of_items = np.asarray(weights[history.by_user.indices, [column]], dtype=np.float64).ravel()
    added: NDArray[np.float64] = history.strengths * of_items
    return added


@dataclass(eq=False, repr=False)
class ItemKNN(ItemWeights, Recommender):
    """W_ij = cosine of the columns i and j of R, shrunk, for the k nearest j of each i; 0 elsewhere.

    Of equally near items those with the smaller ids are kept.

    cosine_ij = (r_i · r_j) / (‖r_i‖ ‖r_j‖ + shrink), with strengths r in units of their median.
    `device` is "cpu", "cuda", or "auto": cuda where torch sees one.

    >>> from taylorank.data import planted
    >>> train, valid, test = planted(200, 80, interactions=3000).split()
    >>> ItemKNN(neighbours=20).fit(train).recommend([0], n=3)[0].shape
    (1, 3)
    """

    neighbours: int = 100
    _: KW_ONLY
    shrink: float = 10.0
    device: Literal["auto", "cpu", "cuda"] = "auto"

    @narrated_fit
    @typed
    def fit(
        self, train: Any, valid: Interactions | None = None, callback: Any = None, *, progress: Show = None
    ) -> Self:
        """Fit to `train`: `Interactions`, or a SciPy matrix (users × items)."""
        check_parameters(self)
        data, device = training_data(train), torch_device(self.device)
        measured = in_units(data, data.typical_strength)
        by_item = measured.by_item.to_scipy().astype(np.float64)  # (N, M)
        norms = np.sqrt(by_item.multiply(by_item).sum(axis=1))
        strips = (
            self._nearest(measured, by_item, norms) if device is None else self._nearest_on(device, measured, norms)
        )
        weights = sparse.vstack(list(strips), format="csr")
        self.train_, self.item_weights_ = data, weights
        return self

    def _nearest(self, data: Interactions, by_item: Any, norms: NDArray[Any]) -> Iterator[sparse.csr_array]:
        """Yield rows of W, block after block of items: of each its k nearest, itself left out."""
        by_user = data.matrix.astype(np.float64)
        for start in range(0, data.n_items, BLOCK):
            report("items", done=start, total=data.n_items)
            products = by_item[start : start + BLOCK] @ by_user
            if is_thin(products):
                products.sort_indices()
                yield self._nearest_of_few(products.tocoo(), start, norms)
                continue
            cosines = products.toarray()
            rows = np.arange(len(cosines))
            cosines /= norms[start : start + len(cosines), None] * norms + self.shrink + np.finfo(np.float32).tiny
            cosines[rows, start + rows] = 0.0
            lists = top_k_scores(cosines, min(self.neighbours, data.n_items))  # equal ones by position
            yield _strip(*lists, data.n_items)

    def _nearest_of_few(self, products: Any, start: int, norms: NDArray[Any]) -> sparse.csr_array:
        """The same, for a strip that is 0 almost everywhere: its entries alone are looked at."""
        rows, columns = products.coords
        scale = norms[start + rows] * norms[columns] + self.shrink + np.finfo(np.float32).tiny
        values = (products.data / scale).astype(np.float32)
        other = (columns != start + rows) & (values > 0)
        rows, columns, values = rows[other], columns[other], values[other]
        kept, _ = largest_entries(rows, columns, values, self.neighbours)
        strip = sparse.csr_array((values[kept], (rows[kept], columns[kept])), shape=products.shape)
        strip.sort_indices()
        return strip

    def _nearest_on(self, device: str, data: Interactions, norms: NDArray[Any]) -> Iterator[sparse.csr_array]:
        from taylorank.models.neighbours_cuda import nearest_items

        count = min(self.neighbours, data.n_items)
        for lists in nearest_items(data, norms, count=count, shrink=self.shrink, device=device):
            yield _strip(*lists, data.n_items)

    def _score_rows(self) -> Callable[[sparse.csr_array], NDArray[Any]] | None:
        device = torch_device(self.device)
        if device is None:
            return None
        from taylorank.models.neighbours_cuda import NeighbourScores

        return NeighbourScores(self._learned("item_weights_"), device)


def _strip(nearest: NDArray[np.int64], values: NDArray[np.float32], n_items: int) -> sparse.csr_array:
    """Return lists of neighbours and their weights as rows of W."""
    ends = np.arange(0, values.size + 1, values.shape[1])
    strip = sparse.csr_array((values.ravel(), nearest.ravel(), ends), shape=(len(values), n_items))
    strip.sort_indices()
    strip.eliminate_zeros()
    return strip
