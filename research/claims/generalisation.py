"""The generalisation bound, at the sizes of real data."""

from __future__ import annotations

import math

from research.claims.claim import Claim, Judgement, Numbers, decide
from research.papers import PU_2024, PU_2025

GROUP = "Bounds and generalisation"
# users, items, interactions: Pu et al. 2025, Table 5, and ML-1M for scale
SIZES = {
    "ML-1M": (6_040, 3_706, 1_000_209),
    "MovieLens-10M": (69_815, 9_888, 8_240_192),
    "Electronics": (192_403, 63_001, 1_689_188),
    "Steam": (281_204, 11_961, 3_484_497),
    "Wiki": (129_404, 129_432, 13_715_724),
}
DELTA = 0.05
RANK = 64
LARGEST_LOSS = 1.0  # B: the smaller, the kinder to the bound


def dimension(n_users: int, n_items: int) -> float:
    """Return d = K (M + N) log(16 e M / K)."""
    return RANK * (n_users + n_items) * math.log(16 * math.e * n_users / RANK)


def constant_of(n_items: int) -> float:
    """Return L of Remark 13 with C_P C_Q = 1."""
    return 2 * (2 * math.sqrt(n_items) + 1 + n_items)


def log_term(n_users: int, n_items: int, log_data: float) -> float:
    """Return the logarithm of Theorem 14's term for e^`log_data` interactions."""
    d = dimension(n_users, n_items)
    inside = math.log(d + 1) + 4 * math.log(LARGEST_LOSS) + d + 1 + d * math.log(constant_of(n_items))
    return math.log(16) + (inside - log_data - math.log(DELTA)) / (d + 2)


def log_data_needed(n_users: int, n_items: int) -> float:
    """Return the logarithm of the interactions from which the term is below the largest loss."""
    d = dimension(n_users, n_items)
    return (log_term(n_users, n_items, 0.0) - math.log(LARGEST_LOSS)) * (d + 2)


def data_needed_with_the_rate(n_users: int, n_items: int) -> float:
    """Return the interactions from which Eq. 44 before its last step has δ below ½ the largest loss."""
    d, eps = dimension(n_users, n_items), 0.5 * LARGEST_LOSS
    log_cover = math.log(4 * math.e * (d + 1)) + d * math.log(16 * math.e * constant_of(n_items) / eps)
    return 32 * LARGEST_LOSS**4 * (log_cover - math.log(DELTA)) / eps**2


def at_real_sizes(seed: int, *, log_data: float | None = None) -> Numbers:
    """The term, over the largest loss there is, at every size of `SIZES`; `log_data` replaces their interactions."""
    del seed
    rows = {}
    for name, (users, items, pairs) in SIZES.items():
        given = math.log(pairs) if log_data is None else log_data
        rows[name] = {
            "term over largest loss": math.exp(log_term(users, items, given)) / LARGEST_LOSS,
            "digits of the interactions needed": log_data_needed(users, items) / math.log(10),
            "needed without the last step": data_needed_with_the_rate(users, items),
            "all pairs": float(users) * items,
        }
    return rows


def judge_term(n: Numbers) -> Judgement:
    """A bound says something where it is below the largest loss."""
    smallest = min(row["term over largest loss"] for row in n.values())
    first, wiki = n["ML-1M"], n["Wiki"]
    return Judgement(
        decide(smallest < 1),
        f"at ML-1M size the term is {first['term over largest loss']:.2g} times the largest loss there can be, at "
        f"Wikipedia size {wiki['term over largest loss']:.2g} times. It would fall below 1 from a number of "
        f"interactions with {first['digits of the interactions needed']:.2g} digits; without the step exp(−x) ≤ 1/x "
        f"from {first['needed without the last step']:.2g}, where ML-1M has {first['all pairs']:.2g} pairs in all",
    )


CLAIMS = (
    Claim(
        id="generalisation-bound-says-something",
        group=GROUP,
        source=f"{PU_2025}, Theorem 14 (Eq. 33); {PU_2024}, Theorem 3.20",
        statement="Theorem 14 bounds the difference between training loss and expected loss at the sizes of the "
        "experiments.",
        method="The term of Eq. 33 at the papers' sizes (K = 64, δ = 0.05), with assumptions that are kind to it: "
        "largest loss B = 1, C_P C_Q = 1. Sizes as in Pu et al. 2025, Table 5, and ML-1M.",
        experiment=at_real_sizes,
        judge=judge_term,
        change={"log_data": 1e9},
        change_in_words="interactions without end, e^1,000,000,000 of them",
        correction="The bound is vacuous: its term is about 16·e·L whatever the data, because exp(−x) ≤ 1/x throws the "
        "rate away. Kept, the rate would ask for a number of interactions that is reported above.",
    ),
)
