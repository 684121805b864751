"""A model as the server holds it: read from its file, with titles, columns and hidden items, ready for requests."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taylorank.data import Ids, Interactions
from taylorank.errors import ParameterError
from taylorank.kernels import ItemVectors, top_k
from taylorank.ranking import Ranker, ranker_of
from taylorank.serving.catalogue import Catalogue
from taylorank.serving.filters import allowed_by
from taylorank.serving.kept import Kept
from taylorank.serving.path_vectors import PathVectors, path_vectors_of
from taylorank.serving.search import SearchIndex
from taylorank.serving.spelled import id_of

Mask = NDArray[np.bool_]
KEPT_BYTES = 1 << 26  # of masks, and of scales and offsets, each
Lines = tuple[NDArray[np.float32] | None, NDArray[np.float32] | None]


@dataclass(frozen=True, eq=False)
class Served:
    """One model with all that requests ask of it. Immutable: a reload makes another."""

    name: str
    model: Any
    catalogue: Catalogue
    hidden: frozenset[str] = frozenset()  # ids as they are spelled

    @cached_property
    def _lines(self) -> Kept[Lines]:
        return Kept(max(1, min(16, KEPT_BYTES // (8 * len(self.ranker.items) + 1))))

    @cached_property
    def _masks(self) -> Kept[Mask]:
        return Kept(max(1, min(64, KEPT_BYTES // (len(self.ranker.items) + 1))))

    @cached_property
    def ranker(self) -> Ranker:
        """The model as ranking sees it."""
        return ranker_of(self.model)

    @cached_property
    def path(self) -> PathVectors | None:
        """Its fitted path, if the file holds it."""
        return path_vectors_of(self.model)

    @cached_property
    def version(self) -> str:
        """A fingerprint of the data that it was fitted to."""
        return str(self.model.data_fingerprint)

    @cached_property
    def search(self) -> SearchIndex:
        """Finds its items by title or id."""
        return SearchIndex(self.catalogue.ids, self.catalogue.titles, self.ranker.item_popularity)

    @cached_property
    def hidden_rows(self) -> NDArray[np.int64]:
        """Positions of hidden items."""
        items = self.ranker.items
        rows = items.positions([id_of(text, items) for text in self.hidden])
        return np.unique(rows[rows >= 0])

    @cached_property
    def rankable(self) -> Mask | None:
        """Which items may be recommended at all; None for all."""
        if not len(self.hidden_rows):
            return self.ranker.rankable
        shown = np.ones(len(self.ranker.items), dtype=bool)
        shown[self.hidden_rows] = False
        return self.ranker.ranks(shown)

    @property
    def folds_in(self) -> bool:
        """Whether it takes the history of a new user."""
        vectors = self.ranker.vectors
        return self.ranker.histories is not None if vectors is None else vectors.fold_in is not None

    @property
    def own_discount(self) -> float | None:
        """The exponent of its popularity discount; None where the score has no popularity in it to discount."""
        if getattr(self.model, "ranking", "probability") == "lift":
            return None
        return float(getattr(self.model, "popularity_discount", 0.0))

    def allowed(self, filters: Any, key: str) -> Mask:
        """Return which items may be recommended under filters, which `key` spells."""
        return self._masks.get(key, lambda: self.among(allowed_by(filters, self.catalogue)))

    def among(self, mask: Mask) -> Mask:
        """Return which items of `mask` may be recommended."""
        return mask if self.rankable is None else mask & self.rankable

    def discounts(self, discount: float) -> NDArray[np.float64]:
        """Return popularity^-(δ − δ₀) for a total exponent δ, the model having δ₀ in its scores."""
        own = self.own_discount
        if own is None:
            raise ParameterError("the lift has no popularity to discount", "leave discount out")
        factors: NDArray[np.float64] = np.maximum(self.ranker.item_popularity, 1.0) ** (own - discount)
        return factors

    def lines(self, discount: float | None) -> Lines:
        """Return scales and offsets of the items' scores under a discount; None where all are 1 or 0."""
        vectors = self.ranker.vectors
        a, b = (None, None) if vectors is None else (vectors.scales, vectors.offsets)
        if discount is None:
            return a, b
        return self._lines.get(discount, lambda: self._discounted(a, b, discount))

    def _discounted(self, a: NDArray[Any] | None, b: NDArray[Any] | None, discount: float) -> Lines:
        factors = self.discounts(discount)
        scales = (factors if a is None else factors * a).astype(np.float32)
        return scales, None if b is None else (factors * b).astype(np.float32)

    def popular_scores(self, discount: float | None) -> NDArray[np.float32]:
        """Return the scores of all items for a cold user."""
        scores = self.ranker.popular_scores
        return scores if discount is None else (scores * self.discounts(discount)).astype(np.float32)

    def warm(self) -> Served:
        """Compute now what the first requests would wait for; a model that cannot answer fails here."""
        vectors = self.ranker.vectors
        if vectors is not None and vectors.are_products:
            _lay_out(vectors.items)
            vectors.items.inverse_norms  # noqa: B018
        if self.path is not None:
            _lay_out(self.path.items)
        if self.folds_in and len(self.ranker.items):
            one = Interactions.from_positions(
                (Ids([0]), np.zeros(1, dtype=np.int32)), (self.ranker.items, np.zeros(1, dtype=np.int32))
            )
            self.ranker.for_histories(one)
        if len(self.ranker.users):
            self.ranker.users.positions(self.ranker.users.values[:1])
            self.ranker.items.positions(self.ranker.items.values[:1])
        self.search, self.rankable, self.version  # noqa: B018
        return self

    def with_items(self, catalogue: Catalogue, hidden: frozenset[str]) -> Served:
        """Return the same model with other titles, columns and hidden items."""
        return Served(self.name, self.model, catalogue, hidden)


def _lay_out(items: ItemVectors) -> None:
    """Rank once, for the vectors to be laid out as kernels read them."""
    if len(items):
        top_k(np.zeros((1, items.factors.shape[1]), dtype=np.float32), items, k=1)
