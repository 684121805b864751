"""What RG², RG× and their sampled forms ask of their parameters, and make of them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from taylorank.data import Interactions
from taylorank.errors import ParameterError
from taylorank.objectives import RG
from taylorank.objectives.rg import PENALTIES
from taylorank.solvers import solve_spectral

LEAST_RANK, MOST_RANK = 64, 1024  # of a model whose rank is not given
MOST_NUMBERS = 1 << 29  # of its factors, users and items together: 2 GiB


def default_rank(data: Interactions) -> int:
    """Return a quarter of the smaller side of the data, at least 64 and at most 1024, and no more than that side.

    Beyond 64 it is also no more than 2^29 / (M + N), so that the factors of large data stay within 2 GiB. The
    threshold, a share of σ₁, drops the factors that are noise; a rank that is too small can keep none beyond it.

    >>> from taylorank.data import planted
    >>> default_rank(planted(1000, 600, interactions=9000)), default_rank(planted(90, 40, interactions=900))
    (150, 40)
    """
    return rank_of_sizes(data.n_users, data.n_items)


def rank_of_sizes(n_users: int, n_items: int) -> int:
    """Return the default rank of data of this size."""
    side = min(n_users, n_items)
    most = min(MOST_RANK, MOST_NUMBERS // max(n_users + n_items, 1))
    return min(max(LEAST_RANK, min(side // 4, most)), side)


NOISE_SHARE, MOST_SHARE, PLAIN = 0.55, 0.4, 0.1  # of a model whose regularization is not given
SIZE_SHARE = 0.7  # the same, from sizes alone
NOISE_TOLERANCE = 0.02  # of residuals; that of the value itself is about its square


def default_share(objective: RG, largest: float | None = None, *, device: str | None = None) -> float:
    """Return τ/σ₁ = 0.55 σ₂'/σ₁, at most 0.4, with σ₂' of shuffled data; λ = 0.1 if plain. `largest` is σ₁, if known.

    Singular values below those of data whose items are shuffled tell noise rather than taste. The factor and the limit
    were chosen on validation data.
    """
    if objective.penalised == "plain":
        return PLAIN
    largest = largest_value(objective) if largest is None else largest
    return min(NOISE_SHARE * noise_level(objective, device=device) / largest, MOST_SHARE) if largest > 0 else MOST_SHARE


def noise_level(objective: RG, *, device: str | None = None) -> float:
    """Return σ₂', where the singular values of shuffled data end; σ₁' tells of pairs that chance draws twice."""
    sides = min(objective.rows.n_rows, objective.rows.n_columns)
    path = solve_spectral(objective.shuffled(), min(2, sides), tolerance=NOISE_TOLERANCE, device=device)
    return float(path.svd.values[-1])


def share_of_sizes(n_users: int, n_items: int, interactions: int) -> float:
    """Return τ/σ₁ = 0.7 (√(M/n) + √(N/n)), at most 0.4, for n interactions of M users and N items.

    For where a pass over shuffled data costs too much: 1/√d_x + 1/√d_y is where the singular values of
    D_x^−½ R D_y^−½ end for a random graph of degrees d_x and d_y.

    >>> round(share_of_sizes(300, 200, 9000), 3)
    0.232
    """
    users, items = (side / max(interactions, 1) for side in (n_users, n_items))
    return float(min(SIZE_SHARE * (users**0.5 + items**0.5), MOST_SHARE))


def largest_value(objective: RG) -> float:
    """Return σ₁."""
    return solve_spectral(objective, 1, tolerance=1e-3).largest


def penalty_of(objective: RG, regularization: float) -> float:
    """Return λ for τ = `regularization` · σ₁; a plain penalty has it as it is."""
    if objective.penalised == "plain":
        return regularization
    return solve_spectral(objective, 1, tolerance=1e-3).penalty(regularization)


def check_share(regularization: float) -> None:
    """Refuse a share of σ₁ outside [0, 1)."""
    if not 0 <= regularization < 1:
        raise ParameterError(
            f"regularization={regularization} is outside [0, 1)", "it is a share of σ₁: try 0.1 to 0.4"
        )


def check_penalty(penalty: str) -> None:
    """Refuse what is neither "weighted" nor "plain"."""
    if penalty not in PENALTIES:
        raise ParameterError(f"penalty={penalty!r} is unknown", f"choose {' or '.join(PENALTIES)}")


def check_ranking(ranking: str, discount: float) -> None:
    """Refuse what is neither "probability" nor "lift", and a discount of the lift."""
    if ranking not in ("probability", "lift"):
        raise ParameterError(f"ranking={ranking!r} is unknown", 'choose "probability" or "lift"')
    if discount and ranking == "lift":
        raise ParameterError("the lift has no popularity to discount", 'use ranking="probability"')


def discounts(counts: NDArray[np.float64], exponent: float) -> NDArray[np.float64]:
    """Return max(popularity, 1)^-δ; the counts are of typical interactions."""
    factors: NDArray[np.float64] = np.maximum(counts, 1.0) ** -float(exponent)
    return factors
