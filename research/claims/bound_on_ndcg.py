"""Softmax loss bounds the logarithm of NDCG."""

from __future__ import annotations

import numpy as np

from research.claims.claim import Claim, Judgement, Numbers, decide
from research.claims.dense import Floats, discounts, log_sum_exp
from research.papers import PU_2024, PU_2025

GROUP = "From softmax to RG"
N_ITEMS = 12


def ndcg(scores: Floats, positives: Floats, *, cutoff: int | None = None) -> float:
    """Return NDCG of the ranking by falling scores for a set of positives."""
    c = discounts(len(scores))
    c[len(c) if cutoff is None else cutoff :] = 0.0
    rank = np.empty(len(scores), dtype=int)
    rank[np.argsort(-scores, kind="stable")] = np.arange(len(scores))
    return float(c[rank[positives]].sum() / c[: len(positives)].sum())


def mean_log_p(scores: Floats, positives: Floats) -> float:
    """Return the mean log softmax probability of the positives."""
    return float((scores[positives] - log_sum_exp(scores)).mean())


def random_user(rng: np.random.Generator, *, most: int, n_items: int = N_ITEMS) -> tuple[Floats, Floats]:
    """Return random scores, flat to steep, and a random set of 1 to `most` positives."""
    scores = rng.choice([0.1, 1.0, 5.0]) * rng.standard_normal(n_items)
    return scores, rng.choice(n_items, int(rng.integers(1, most + 1)), replace=False)


def per_user_margin(seed: int, *, cutoff: int | None = None, trials: int = 3000) -> Numbers:
    """Smallest log NDCG − mean log p over random scores and sets."""
    rng = np.random.default_rng(seed)
    margins = []
    for _ in range(trials):
        scores, positives = random_user(rng, most=5)
        value = ndcg(scores, positives, cutoff=cutoff)
        margins.append((np.log(value) if value > 0 else -np.inf) - mean_log_p(scores, positives))
    worst = float(np.min(margins))
    return {"trials": trials, "smallest margin": worst if np.isfinite(worst) else -1e9, "mean margin": _mean(margins)}


def _mean(margins: list[float]) -> float:
    finite = [margin for margin in margins if np.isfinite(margin)]
    return float(np.mean(finite))


def judge_per_user(n: Numbers) -> Judgement:
    """The margin is never negative."""
    return Judgement(
        decide(n["smallest margin"] >= 0),
        f"over {n['trials']} random score vectors and sets of positives, log NDCG exceeds the mean log probability by "
        f"{n['smallest margin']:.3g} at least and {n['mean margin']:.3g} on average",
    )


def two_scales(seed: int, *, most: int = 10, trials: int = 400, users: int = 5) -> Numbers:
    """Pu et al. 2024, Eq. 7 with 1/|D|, as printed, and with 1/|U|: how often −log mean NDCG exceeds the right side."""
    rng = np.random.default_rng(seed)
    worst = {"1/|D|": np.inf, "1/|U|": np.inf}
    violations = dict.fromkeys(worst, 0)
    for _ in range(trials):
        people = [random_user(rng, most=most, n_items=40) for _ in range(users)]
        left = -np.log(np.mean([ndcg(scores, positives) for scores, positives in people]))
        total = -sum(mean_log_p(scores, positives) for scores, positives in people)
        counts = {"1/|D|": sum(len(positives) for _, positives in people), "1/|U|": users}
        for name, count in counts.items():
            margin = total / count - left
            worst[name] = min(worst[name], margin)
            violations[name] += margin < 0
    return {
        "trials": trials,
        "violated with 1/|D|": violations["1/|D|"],
        "violated with 1/|U|": violations["1/|U|"],
        "smallest margin with 1/|D|": worst["1/|D|"],
        "smallest margin with 1/|U|": worst["1/|U|"],
    }


def judge_two_scales(n: Numbers) -> Judgement:
    """Printed: 1/|D|. Corrected: 1/|U|."""
    return Judgement(
        decide(n["violated with 1/|D|"] == 0, n["violated with 1/|U|"] == 0),
        f"divided by the number of interactions, as printed, the bound is broken in {n['violated with 1/|D|']} of "
        f"{n['trials']} random cases; divided by the number of users in {n['violated with 1/|U|']}",
    )


CLAIMS = (
    Claim(
        id="softmax-bounds-ndcg",
        group=GROUP,
        source=f"{PU_2025}, Prop. 3 (Eq. 7); Bruch et al. 2019",
        statement="The mean log softmax probability of the positives is at most the logarithm of NDCG, so lowering "
        "softmax loss raises a lower bound on NDCG.",
        method="Random scores, from flat to steep, and random sets of one to five positives among 12 items; the "
        "smallest difference of the two sides.",
        experiment=per_user_margin,
        judge=judge_per_user,
        change={"cutoff": 1},
        change_in_words="NDCG of the first rank alone, which may be 0 and has no logarithm to bound",
    ),
    Claim(
        id="softmax-bounds-ndcg-as-in-2024",
        group=GROUP,
        source=f"{PU_2024}, Prop. 3.2 (Eq. 7)",
        statement="−log of the mean NDCG is at most the users' mean softmax losses, summed and divided by the number "
        "of interactions |D|.",
        method="Five users with random scores and one to ten positives among 40 items; both normalisations of the "
        "right side.",
        experiment=two_scales,
        judge=judge_two_scales,
        change={"most": 1},
        change_in_words="one positive per user, where |D| = |U| and the two normalisations agree",
        correction="Divide by the number of users |U|.",
    ),
)
