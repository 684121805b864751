"""The generalisation bound: whether its term falls with the amount of data, at the sizes of real data."""

from __future__ import annotations

import math
from collections.abc import Mapping

from scipy.optimize import brentq

from research.claims.claim import Claim, Judgement, Numbers, decide
from research.papers import PU_2024, PU_2025

Size = tuple[int, int, int]

GROUP = "Bounds and generalisation"
# users, items, interactions: Pu et al. 2025, Table 5, and ML-1M for scale
SIZES: Mapping[str, Size] = {
    "ML-1M": (6_040, 3_706, 1_000_209),
    "MovieLens-10M": (69_815, 9_888, 8_240_192),
    "Electronics": (192_403, 63_001, 1_689_188),
    "Steam": (281_204, 11_961, 3_484_497),
    "Wiki": (129_404, 129_432, 13_715_724),
}
DELTA = 0.05
MORE = 100  # times as many interactions, at which a rate of 1/√|D| leaves a tenth
FALLS = 0.1  # of itself, at least, with so much more data: a bound that tightens


def dimension(n_users: int, n_items: int, rank: int) -> float:
    """Return d = K (M + N) log(16 e M / K)."""
    return rank * (n_users + n_items) * math.log(16 * math.e * n_users / rank)


def constant_of(n_items: int) -> float:
    """Return L of Remark 13 with C_P C_Q = 1."""
    return 2 * (2 * math.sqrt(n_items) + 1 + n_items)


def zero_risk(size: Size) -> float:
    """Return the empirical risk of zero scores, Σ_x (N² − N|I_x|) / |D| = N (MN/|D| − 1): a loss that occurs."""
    users, items, pairs = size
    return items * (users * items / pairs - 1)


def printed_term(size: Size, rank: int, *, largest_loss: float) -> float:
    """Return Theorem 14's 16 ((d+1) B⁴ e^(d+1) L^d / |D|δ)^(1/(d+2))."""
    users, items, pairs = size
    d = dimension(users, items, rank)
    inside = math.log(d + 1) + 4 * math.log(largest_loss) + d + 1 + d * math.log(constant_of(items))
    return 16 * math.exp((inside - math.log(pairs * DELTA)) / (d + 2))


def term_with_the_rate(size: Size, rank: int) -> float:
    """Return ε at which Eq. 44 before its last step gives δ: 4e(d+1) (16eL/ε)^d exp(−|D|ε²/32B⁴), with B = 1."""
    users, items, pairs = size
    d, L = dimension(users, items, rank), constant_of(items)

    def excess(log_eps: float) -> float:
        log_cover = math.log(4 * math.e * (d + 1)) + d * (math.log(16 * math.e * L) - log_eps)
        return log_cover - pairs * math.exp(2 * log_eps) / 32 - math.log(DELTA)

    return math.exp(brentq(excess, -50.0, 50.0))


def with_more_data(seed: int, *, sizes: Mapping[str, Size] = SIZES, rank: int = 64) -> Numbers:
    """What is left of both terms with a hundred times the interactions, and the printed one over the risk of zero."""
    del seed
    rows = {}
    for name, size in sizes.items():
        more = (*size[:2], MORE * size[2])
        risk = zero_risk(size)
        rows[name] = {
            "d": dimension(*size[:2], rank),
            "fall as printed": -math.expm1(-math.log(MORE) / (dimension(*size[:2], rank) + 2)),
            "left with the rate": term_with_the_rate(more, rank) / term_with_the_rate(size, rank),
            "term over 16eL": printed_term(size, rank, largest_loss=1.0) / (16 * math.e * constant_of(size[1])),
            "term over the risk of zero scores": printed_term(size, rank, largest_loss=max(risk, 1)) / max(risk, 1),
        }
    return rows


def judge_fall(n: Numbers) -> Judgement:
    """Printed: the term falls. Corrected: the one that keeps the rate does, nearly as 1/√|D|."""
    printed = [row["fall as printed"] for row in n.values()]
    kept = [row["left with the rate"] for row in n.values()]
    of_zero = {name: row["term over the risk of zero scores"] for name, row in n.items()}
    low, high = min(of_zero, key=lambda name: float(of_zero[name])), max(of_zero, key=lambda name: float(of_zero[name]))
    return Judgement(
        decide(min(printed) > FALLS, max(kept) < 0.2),
        f"with {MORE} times the interactions the printed term falls by {max(printed):.1g} of itself at most (d is "
        f"{min(row['d'] for row in n.values()):.1g} and more), without the step exp(−x) ≤ 1/x to "
        f"{max(kept):.0%} of itself or less. Its size, about 16eL, is {of_zero[low]:.2g} of the risk of zero "
        f"scores at the size of {low} and {of_zero[high]:.2g} at that of {high}: whether it says anything depends on "
        "what the largest loss is taken to be, and not on the data",
    )


CLAIMS = (
    Claim(
        id="generalisation-bound-falls-with-data",
        group=GROUP,
        source=f"{PU_2025}, Theorem 14 (Eq. 33), and the rate O(|D|^(−1/(d+2))) after Prop. 15; {PU_2024}, Theorem "
        "3.20",
        statement="The bound on what expected loss exceeds training loss by tightens as the interactions grow in "
        "number.",
        method="The term of Eq. 33 at the sizes of Pu et al. 2025, Table 5, and ML-1M (K = 64, δ = 0.05, C_P C_Q = 1) "
        "for |D| and 100 |D| interactions, and the same for the ε that Eq. 44 gives before its last step (B = 1). It "
        "tightens if a tenth of it or more is gone. What the printed term falls by does not depend on B.",
        experiment=with_more_data,
        judge=judge_fall,
        change={"sizes": {"two by two": (2, 2, 3)}, "rank": 1},
        change_in_words="a model of rank 1 for two users and two items, whose d is small",
        correction="Not at any size in use: the term is about 16eL whatever the data, because exp(−x) ≤ 1/x throws the "
        "rate away. Solved for ε before that step, Eq. 44 falls as 1/√|D| up to a logarithm.",
    ),
)
