"""Validation data without near-duplicates in the training data.

Where a user's interactions come in groups (the places of one journey, the parts of one series), a random item held back
has its neighbours in the training part, and a model that only knows neighbours looks better than it will be on what
comes next. Holding back whole groups is a harder test (blocked cross-validation; Roberts et al., "Cross-validation
strategies for data with temporal, spatial, hierarchical, or phylogenetic structure", Ecography 40, 2017).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from taylorank.data import Interactions
from taylorank.deprecation import renamed
from taylorank.errors import ParameterError
from taylorank.models.rg import RG2

FACTORS = 32


@renamed(seed="random_state")
def split_blocks(data: Interactions, share: float = 0.1, *, random_state: int = 0) -> tuple[Interactions, Interactions]:
    """Return (train, valid): of each user's n items a random one and those of the others most like it go to valid.

    As many as `Interactions.split` would take: ⌊n · share⌋, at least one, while train keeps one. Items are alike by the
    cosine of their factors in correspondence analysis (RG² with γ = ρ = 1) of `data`.

    >>> from taylorank.data import planted
    >>> data = planted(100, 50, interactions=1500)
    >>> train, valid = split_blocks(data)
    >>> train.nnz + valid.nnz
    1500
    """
    if not 0 < share < 1:
        raise ParameterError(f"share={share} is not between 0 and 1", "give a share such as 0.1")
    directions = _directions(data)
    rng = np.random.default_rng(random_state)
    rows = data.by_user
    held = np.zeros(data.nnz, dtype=bool)
    for start, stop in zip(rows.indptr[:-1], rows.indptr[1:], strict=True):
        count = min(max(1, int((stop - start) * share + 1e-9)), stop - start - 1)
        if count < 1:
            continue
        own = directions[rows.indices[start:stop]]
        alike = own @ own[rng.integers(len(own))]
        held[start + np.argsort(-alike, kind="stable")[:count]] = True
    label = f"split_blocks {share:g}, seed {random_state}"
    return data.select(~held, f"{label}: train"), data.select(held, f"{label}: valid")


def _directions(data: Interactions) -> NDArray[np.float32]:
    """Unit vectors of the items, (N, K)."""
    factors = min(FACTORS, data.n_users, data.n_items)
    model = RG2(factors, regularization=0.0, proposal_exponent=1.0, context_exponent=1.0).fit(data)
    vectors: NDArray[np.float32] = np.array(model.item_factors, dtype=np.float32)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    np.divide(vectors, lengths, out=vectors, where=lengths > 0)
    return vectors
