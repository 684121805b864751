"""Consistency with DCG: do better losses mean better rankings, in the limit and on the way?"""

from __future__ import annotations

import numpy as np

from research.claims.claim import Claim, Figure, Judgement, Numbers, decide
from research.claims.dense import Floats, dcg, dcg_regret, discounts
from research.claims.distributions import random_sets
from research.papers import PU_2024, PU_2025

GROUP = "Consistency with DCG"


def regret_by_samples(seed: int, *, context_exponent: float = 1.0, contexts: int = 40) -> Numbers:
    """DCG regret of the RG² scores fitted to n draws, mean over random distributions, over the best DCG."""
    rng = np.random.default_rng(seed)
    worlds = [random_sets(rng) for _ in range(contexts)]
    samples = [10, 30, 100, 300, 1000, 3000, 10_000, 100_000]
    regrets = []
    for count in samples:
        lost = []
        for world in worlds:
            scores = world.best_rg2(context_exponent=context_exponent, shares=world.draw(rng, count))
            lost.append(dcg_regret(scores, world.relevance) / dcg(world.relevance, world.relevance))
        regrets.append(float(np.mean(lost)))
    limit = [
        dcg_regret(world.best_rg2(context_exponent=context_exponent), world.relevance)
        / dcg(world.relevance, world.relevance)
        for world in worlds
    ]
    return {"samples": samples, "regret": regrets, "regret in the limit": float(np.mean(limit))}


def judge_regret(n: Numbers) -> Judgement:
    """The regret goes to zero."""
    return Judgement(
        decide(n["regret in the limit"] < 1e-12 and n["regret"][-1] < 0.1 * n["regret"][0]),
        f"the share of DCG lost falls from {n['regret'][0]:.2g} at {n['samples'][0]} draws to {n['regret'][-1]:.1g} at "
        f"{n['samples'][-1]:,}; with the distribution itself it is {n['regret in the limit']:.1g}",
    )


def lemma_ratio(seed: int, *, constant: float = 1.0, starts: int = 60, steps: int = 200) -> Numbers:
    """Largest DCG regret over (2 Σ c²)^½ ‖f − f_B‖ that a random climb finds."""
    rng = np.random.default_rng(seed)
    N = 6
    scale = constant * float(np.sqrt(2 * (discounts(N) ** 2).sum()))

    def ratio(pair: Floats) -> float:
        truth, scores = np.clip(pair[0], 0, 1), pair[1]
        distance = float(np.linalg.norm(scores - truth))
        return dcg_regret(scores, truth) / (scale * distance) if distance > 1e-9 else 0.0

    best = []
    for _ in range(starts):
        pair = rng.random((2, N))
        value = ratio(pair)
        for _ in range(steps):
            tried = pair + rng.choice([0.3, 0.03]) * rng.standard_normal(pair.shape)
            tried[0] = np.clip(tried[0], 0, 1)
            if (found := ratio(tried)) > value:
                pair, value = tried, found
        best.append(value)
    return {"largest regret over bound": float(max(best)), "climbs": starts}


def judge_lemma(n: Numbers) -> Judgement:
    """Never above the bound."""
    return Judgement(
        decide(n["largest regret over bound"] <= 1),
        f"{n['climbs']} climbs for the worst case reach {n['largest regret over bound']:.2f} of the bound",
    )


def powers_of_excess(seed: int, *, exponent: float = 1.0) -> Numbers:
    """Two items of relevance ½ ± δ, scored in the wrong order: regret over excess loss to a power, as δ falls."""
    gaps, constant = 2.0 ** -np.arange(1, 12), float(np.sqrt(2 * (discounts(2) ** 2).sum()))
    with_half, with_printed = [], []
    for gap in gaps:
        truth, scores = np.array([0.5 + gap, 0.5 - gap]), np.array([0.5, 0.5 + 1e-9])
        excess = float(((scores - truth) ** 2).sum())
        lost = dcg_regret(scores, truth)
        with_half.append(lost / (constant * excess**0.5))
        with_printed.append(lost / (constant * excess**exponent))
    return {"gap": gaps, "power ½": with_half, "as printed": with_printed}


def judge_powers(n: Numbers) -> Judgement:
    """A bound: the ratio stays at or below 1."""
    printed, half = max(n["as printed"]), max(n["power ½"])
    return Judgement(
        decide(printed <= 1, half <= 1),
        f"two items of nearly equal relevance in the wrong order lose up to {printed:.0f} times what the bound without "
        f"the power allows; with the power ½ at most {half:.2f} of it",
    )


def best_against_ideal(seed: int, *, n_sets: int = 12, contexts: int = 50) -> Numbers:
    """max_π E[DCG(π)] over all rankings, against E[IDCG], for random distributions over sets."""
    from itertools import permutations

    rng = np.random.default_rng(seed)
    orders = np.array(list(permutations(range(5))))
    over_ideal, over_sorted = [], []
    for _ in range(contexts):
        world = random_sets(rng, n_items=5, n_sets=n_sets)
        best = float((world.relevance[orders] @ discounts(5)).max())
        ideal = float(world.chance @ [dcg(row, row) for row in world.members])
        over_ideal.append(best / ideal)
        over_sorted.append(best / dcg(world.relevance, world.relevance))
    return {
        "smallest max E[DCG] over E[IDCG]": min(over_ideal),
        "mean max E[DCG] over E[IDCG]": float(np.mean(over_ideal)),
        "largest gap to sorting by relevance": float(np.abs(np.array(over_sorted) - 1).max()),
    }


def judge_ideal(n: Numbers) -> Judgement:
    """Printed: E[IDCG]. Corrected: the best single ranking, which sorts by relevance."""
    ratio = n["smallest max E[DCG] over E[IDCG]"]
    return Judgement(
        decide(ratio > 1 - 1e-9, n["largest gap to sorting by relevance"] < 1e-9),
        f"over all rankings of five items the best expected DCG is {n['mean max E[DCG] over E[IDCG]']:.2f} of the "
        f"expected ideal DCG on average, {ratio:.2f} at worst; it is reached by sorting by relevance (gap "
        f"{n['largest gap to sorting by relevance']:.0e})",
    )


CLAIMS = (
    Claim(
        id="rg2-dcg-consistent",
        group=GROUP,
        source=f"{PU_2025}, Theorem 12; {PU_2024}, Theorem 3.13",
        statement="RG² is consistent with DCG: as its loss goes to the least possible, DCG goes to the best possible.",
        method="40 random distributions over sets of 8 items; RG² fitted without constraint to 10 to 100,000 draws; "
        "the share of the best DCG that its ranking loses.",
        experiment=regret_by_samples,
        judge=judge_regret,
        change={"context_exponent": 3.0},
        change_in_words="weights |I_x|³ in place of |I_x|",
        figure=Figure("samples", ("regret",), "Share of DCG lost", log_x=True, log_y=True),
    ),
    Claim(
        id="squared-error-bounds-dcg-regret",
        group=GROUP,
        source=f"{PU_2025}, Lemma 9, Theorem 10; {PU_2024}, Lemma B.3",
        statement="The DCG that scores f lose is at most (2 Σ c²)^½ times the distance of f to the expected relevance.",
        method="Random climbs towards the largest ratio of the two sides, 6 items.",
        experiment=lemma_ratio,
        judge=judge_lemma,
        change={"constant": 0.25},
        change_in_words="a quarter of the constant",
    ),
    Claim(
        id="dcg-bound-without-the-root",
        group=GROUP,
        source=f"{PU_2025}, Prop. 15 (second line of Eq. 34, Eq. 35); {PU_2024}, Prop. 3.21",
        statement="Lost DCG is at most a constant times the excess loss.",
        method="Two items of relevance ½ ± δ scored in the wrong order, with the constant of Lemma 9; lost DCG over "
        "excess loss, and over its root, as δ falls.",
        experiment=powers_of_excess,
        judge=judge_powers,
        change={"exponent": 0.5},
        change_in_words="the root that the first line of the same equation has",
        correction="The exponent ½ of the first line must stay.",
        figure=Figure("gap", ("power ½", "as printed"), "Lost DCG over bound", log_x=True, log_y=True),
    ),
    Claim(
        id="best-dcg-is-the-ideal-dcg",
        group=GROUP,
        source=f"{PU_2025}, Prop. 15, note after Eq. 34; {PU_2024}, Prop. 3.21",
        statement="The best possible DCG risk is the expected ideal DCG.",
        method="All 120 rankings of five items for 50 random distributions over sets.",
        experiment=best_against_ideal,
        judge=judge_ideal,
        change={"n_sets": 1},
        change_in_words="a single set per context, so that nothing is uncertain",
        correction="L*_DCG = −max_π E[DCG(π)], reached by sorting by expected relevance; no single ranking is ideal "
        "for every draw, so it is above −E[IDCG].",
    ),
)
