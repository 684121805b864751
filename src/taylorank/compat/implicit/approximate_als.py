"""implicit's ALS with an approximate index: here the lists are exact, and what the index was told is left out."""

from __future__ import annotations

from typing import Any

from taylorank.compat.implicit.als import AlternatingLeastSquares
from taylorank.compat.implicit.utils import ParameterWarning
from taylorank.errors import warn_caller

OF_INDEXES = {
    "all": ("approximate_similar_items", "approximate_recommend"),
    "nmslib": ("method", "index_params", "query_params"),
    "annoy": ("n_trees", "search_k"),
    "faiss": ("nlist", "nprobe"),
}


def _exact(*args: Any, **parameters: Any) -> AlternatingLeastSquares:
    """Return an `AlternatingLeastSquares`, whose lists are exact."""
    of_indexes = {name for names in OF_INDEXES.values() for name in names}
    left_out = sorted(of_indexes & set(parameters))
    named = f", and {', '.join(left_out)} left out" if left_out else ""
    text = f"lists are exact here{named}; for an index of your own: model.export of taylorank.IALS or RG2"
    warn_caller(text, ParameterWarning)
    return AlternatingLeastSquares(*args, **{k: v for k, v in parameters.items() if k not in of_indexes})


NMSLibAlternatingLeastSquares = AnnoyAlternatingLeastSquares = FaissAlternatingLeastSquares = _exact
