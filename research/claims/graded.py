"""Graded relevance and non-uniform proposals: what keeps RG² consistent there."""

from __future__ import annotations

import numpy as np

from research.claims.claim import Claim, Figure, Judgement, Numbers, decide
from research.claims.dense import Floats, dcg, dcg_regret
from research.claims.distributions import keeps_order, least_rg2, random_sets
from research.papers import SUMMARY_2025
from taylorank.data import planted
from taylorank.models import RG2
from taylorank.ranking.regret import regret

GROUP = "Suggested experiments"
N_ITEMS = 7
SHARES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7)


def random_grades(
    rng: np.random.Generator, *, levels: int, most: int | None, outcomes: int = 10
) -> tuple[Floats, Floats]:
    """Return grades (S, N) of every outcome for one context and their probabilities; at most `most` items graded."""
    grades = np.zeros((outcomes, N_ITEMS))
    for row in grades:
        count = int(rng.integers(1, N_ITEMS)) if most is None else most
        row[rng.choice(N_ITEMS, count, replace=False)] = rng.integers(1, levels + 1, count)
    return grades, rng.dirichlet(np.ones(outcomes))


def graded_regret(
    seed: int, *, levels: int = 3, most: int | None = None, context_exponent: float = 1.0, contexts: int = 200
) -> Numbers:
    """Mean loss in DCG and NDCG of RG², minimised with grades, gains and gains over IDCG as strengths."""
    rng = np.random.default_rng(seed)
    lost: dict[str, list[float]] = {f"{r}, {m}": [] for r in ("grades", "gains", "gains/IDCG") for m in ("DCG", "NDCG")}
    for _ in range(contexts):
        grades, chance = random_grades(rng, levels=levels, most=most)
        gains = 2**grades - 1
        ideal = np.array([dcg(row, row) for row in gains])[:, None]
        values = {"DCG": chance @ gains, "NDCG": chance @ (gains / ideal)}
        for name, strengths in (("grades", grades), ("gains", gains), ("gains/IDCG", gains / ideal)):
            scores = least_rg2(strengths, chance, context_exponent=context_exponent)
            for metric, value in values.items():
                lost[f"{name}, {metric}"].append(dcg_regret(scores, value) / dcg(value, value))
    return {name: float(np.mean(values)) for name, values in lost.items()}


def judge_graded(n: Numbers) -> Judgement:
    """Printed: grades as they are. Corrected: gains for DCG, gains over IDCG for NDCG."""
    return Judgement(
        decide(max(n["grades, DCG"], n["grades, NDCG"]) < 1e-12, max(n["gains, DCG"], n["gains/IDCG, NDCG"]) < 1e-12),
        f"with the grades as strengths the best scores lose {n['grades, DCG']:.2%} of DCG and {n['grades, NDCG']:.2%} "
        f"of NDCG; with gains 2^grade − 1 they lose {n['gains, DCG']:.0e} of DCG and {n['gains, NDCG']:.2%} of NDCG; "
        f"with gains/IDCG {n['gains/IDCG, NDCG']:.0e} of NDCG",
    )


def other_proposals(
    seed: int, *, exponents: tuple[float, ...] = (0.5, 1.0), context_exponent: float = 1.0, contexts: int = 100
) -> Numbers:
    """Share of contexts whose order the scores of least RG² under q keep, ranked by lift and by probability."""
    rng = np.random.default_rng(seed)
    kept: dict[str, list[bool]] = {"by score": [], "by probability": []}
    for _ in range(contexts):
        world = random_sets(rng, n_items=N_ITEMS)
        for exponent in exponents:
            q = rng.dirichlet(np.ones(N_ITEMS)) ** exponent
            q /= q.sum()
            o = least_rg2(world.members, world.chance, q=q, context_exponent=context_exponent)
            kept["by score"].append(keeps_order(o, world.relevance))
            kept["by probability"].append(keeps_order(q * (1 + o), world.relevance))
    train, test = planted(400, 200, interactions=9000, seed=seed).split((0.8, 0.2), seed=seed)
    gammas = [0.0, 0.25, 0.5, 0.75, 1.0]
    quality = []
    for gamma in gammas:
        fit = RG2(32, proposal_exponent=gamma, context_exponent=1.0, tolerance=1e-3).fit(train)
        quality.append(max(regret(one, test)["expected_ndcg@10"] for one in fit.path(regularization=SHARES)))
    return {
        **{f"order kept {name}": float(np.mean(values)) for name, values in kept.items()},
        "γ": gammas,
        "expected ndcg@10": quality,
    }


def judge_proposals(n: Numbers) -> Judgement:
    """Printed: ranked by the scores. Corrected: by q (1 + o)."""
    gammas, quality = n["γ"], n["expected ndcg@10"]
    best = int(np.argmax(quality))
    return Judgement(
        decide(n["order kept by score"] == 1, n["order kept by probability"] == 1),
        f"ranked by the scores the order is kept for {n['order kept by score']:.0%} of random contexts and proposals, "
        f"ranked by q(1 + o) for {n['order kept by probability']:.0%}; on planted data q ∝ popularity^γ gives an "
        f"expected NDCG@10 of {quality[0]:.3f} at γ = 0 (the papers') and {quality[best]:.3f} at γ = {gammas[best]:g}",
    )


CLAIMS = (
    Claim(
        id="graded-relevance",
        group=GROUP,
        source=f"{SUMMARY_2025}, Open question 1",
        statement="RG² is consistent with DCG and NDCG for graded relevance, with the grades as strengths.",
        method="Expected RG² minimised for 200 random distributions over graded outcomes (7 items, grades 0 to 3), "
        "with three kinds of strengths, by a general least-squares solver over all outcomes; the share of the best DCG "
        "and NDCG that its scores lose.",
        experiment=graded_regret,
        judge=judge_graded,
        change={"levels": 1, "most": 1},
        change_in_words="single clicks, where grades, gains and normalised gains are all the same",
        correction="Put the gain 2^grade − 1 into r for DCG, and the gain over the context's ideal DCG for NDCG; then "
        "it is. Even binary relevance needs the latter for NDCG where contexts have several positives.",
    ),
    Claim(
        id="non-uniform-proposals",
        group=GROUP,
        source=f"{SUMMARY_2025}, Open question 2",
        statement="Under a non-uniform proposal RG² ranks consistently with DCG by its scores, as under the uniform "
        "one.",
        method="Expected RG² minimised for 200 random distributions and proposals by a general least-squares solver; "
        "and RG² on planted data with q ∝ popularity^γ, regularization at its best for each γ.",
        experiment=other_proposals,
        judge=judge_proposals,
        change={"exponents": (0.0,)},
        change_in_words="the uniform proposal alone",
        correction="The score is then the lift p/q − 1; rank by the probability q(1 + o). The exact weights for any "
        "proposal are those of sampled-rg2-weights.",
        figure=Figure("γ", ("expected ndcg@10",), "Expected NDCG@10 by exponent of the proposal"),
    ),
)
