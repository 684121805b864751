"""Evaluation of many similar models: only the best few hundred items of one of them are ranked again."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from taylorank.data import CSR, Interactions
from taylorank.errors import ParameterError
from taylorank.kernels import nonzero_scores, top_k_scores
from taylorank.metrics import METRICS, Judged
from taylorank.ranking.lists import best_items
from taylorank.ranking.masks import seen_parts
from taylorank.ranking.ranker import Rankable, ranker_of
from taylorank.ranking.relevance import relevance, warn_of_unknown


class Shortlist:
    """The `length` best items of each test user under `model`, on which other models are evaluated.

    A model whose own best items are among them gets the value of full evaluation; the others get a little more. At a
    rank, a threshold or an exponent nearby, 200 items hold all but one in some hundreds of the best 20. All models have
    the same users and items, and rank by inner products.
    """

    def __init__(
        self,
        model: Rankable,
        test: Interactions,
        *,
        seen: Interactions | Sequence[Interactions] | None = None,
        length: int = 200,
    ) -> None:
        ranker = ranker_of(model)
        truth = relevance(ranker, test)
        warn_of_unknown(truth)
        self.users = truth.users
        best_of, size = best_items(ranker, seen_parts(ranker, seen))
        blocks = [slice(start, min(start + size, len(self.users))) for start in range(0, len(self.users), size)]
        lists = [best_of(self.users[block], length)[0] for block in blocks]
        self._items = np.concatenate(lists)  # (B, length), -1 where a list is short
        judged = [truth.judge(block, ranked, ranked.shape[1]) for block, ranked in zip(blocks, lists, strict=True)]
        self._hits = np.concatenate([part.hits for part in judged])  # (B, length)
        self._relevant = truth.counts  # (B,)

    def evaluate(self, model: Rankable, *, metric: str, k: int) -> float:
        """Return the mean of `metric` at `k`, with the shortlists in the order of `model`."""
        vectors = ranker_of(model).vectors
        if vectors is None or not vectors.are_products:
            raise ParameterError(f"{type(model).__name__} does not rank by inner products", "evaluate it in full")
        count, length = self._items.shape
        columns = np.maximum(self._items, 0).astype(np.int32).ravel()
        pairs = CSR(np.arange(0, count * length + 1, length), columns, None, len(vectors.items))
        rows = vectors.rows(self.users).astype(np.float32, copy=False)
        products = nonzero_scores(pairs, np.ascontiguousarray(rows), item_factors=vectors.items.factors)
        scores = vectors.finished(products, columns).reshape(count, length)
        scores[self._items < 0] = -np.inf
        order, _ = top_k_scores(scores, min(k, length))
        hits = np.zeros((count, k), dtype=bool)
        hits[:, : order.shape[1]] = np.take_along_axis(self._hits, np.maximum(order, 0), axis=1) & (order >= 0)
        return float(METRICS[metric](Judged(hits, self._relevant)).mean())
