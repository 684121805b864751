"""Which weights keep squared loss consistent with DCG: by context, by label, by item."""

from __future__ import annotations

import numpy as np

from research.claims.claim import Claim, Judgement, Numbers, decide
from research.claims.dense import Floats
from research.claims.distributions import keeps_order, least_rg2, least_squares, random_sets, two_items
from research.papers import PU_2024, PU_2025, SUMMARY_2025

GROUP = "Consistency with DCG"


def optimum(relevance: Floats, of_positives: Floats, of_negatives: Floats) -> Floats:
    """Return the o of least E[w (o − r)²] where r is 1 with probability η, and w depends on the item and on r."""
    weights = np.stack((of_positives * relevance, of_negatives * (1 - relevance)))  # (2, N): r = 1 and r = 0
    return least_squares(weights, np.stack((np.ones(len(relevance)), np.zeros(len(relevance)))))


def reversals(rng: np.random.Generator, kind: str, *, trials: int = 500, n_items: int = 6) -> float:
    """Return the share of random relevances whose order the optimum under random weights changes."""
    broken = 0
    for _ in range(trials):
        relevance = rng.uniform(0.02, 0.98, n_items)
        size = n_items if kind == "item and label" else 1
        of_positives, of_negatives = np.exp(rng.normal(0, 1.5, (2, size)))
        if kind == "one":
            of_negatives = of_positives
        broken += not keeps_order(optimum(relevance, of_positives, of_negatives), relevance)
    return broken / trials


def sufficient_and_necessary(seed: int, *, kind: str = "item and label") -> Numbers:
    """Pu et al. 2024, Cor. B.5: any positive weights keep the order? The case of the page and random ones."""
    rng = np.random.default_rng(seed)
    relevance = np.array([0.5, 0.6])
    of_positives = np.array([10.0, 1.0]) if kind == "item and label" else np.ones(2)
    scores = optimum(relevance, of_positives, np.ones(2))
    return {"relevance": relevance, "scores at the optimum": scores, "share reversed": reversals(rng, kind)}


def judge_sufficient(n: Numbers) -> Judgement:
    """The "if" half fails as soon as one order is reversed."""
    low, high = n["scores at the optimum"]
    return Judgement(
        decide(n["share reversed"] == 0 and low < high),
        f"items of relevance 0.5 and 0.6 whose positives weigh 10 and 1 get the scores {low:.2f} and {high:.2f}; "
        f"random weights by item and label reverse some order in {n['share reversed']:.0%} of cases",
    )


def label_weights(seed: int, *, kind: str = "label") -> Numbers:
    """Share of orders that weights by label, and by item and label, reverse."""
    rng = np.random.default_rng(seed)
    return {
        "reversed by label weights": reversals(rng, kind),
        "reversed by item and label weights": reversals(rng, "item and label"),
    }


def judge_label(n: Numbers) -> Judgement:
    """Printed: label weights may reverse. Corrected: only those that differ between items do."""
    by_label, by_item = n["reversed by label weights"], n["reversed by item and label weights"]
    return Judgement(
        decide(by_label > 0, by_label == 0 and by_item > 0),
        "500 random weightings of positives against negatives, shared by all items, reverse an order in "
        f"{by_label:.0%} of cases; weights that differ between items as well in {by_item:.0%}",
    )


def context_weights(
    seed: int,
    *,
    exponents: tuple[float, ...] = (0.0, 0.5, 1.0, 1.5, 2.0),
    of_the_draw: float = 0.0,
    contexts: int = 200,
) -> Numbers:
    """Order at the optimum with RG weights |I_x|^ρ where |I_x| is random, and with weights w_x |I_x|^`of_the_draw`."""
    rng = np.random.default_rng(seed)
    kept = {}
    for exponent in exponents:
        worlds = [two_items(True), two_items(False)]
        kept[f"{exponent:g}"] = all(
            keeps_order(least_rg2(world.members, world.chance, context_exponent=exponent)[:2], world.relevance[:2])
            for world in worlds
        )
    fixed = []
    for _ in range(contexts):
        world = random_sets(rng)
        goals = np.where(world.members > 0, rng.uniform(0.5, 3), rng.uniform(-2, 0.4))
        weights = rng.uniform(0.1, 10) * world.chance * world.sizes**of_the_draw
        scores = least_squares(np.broadcast_to(weights[:, None], goals.shape), goals)
        fixed.append(keeps_order(scores, world.relevance))
    return {"order kept by exponent": kept, "share kept with one weight per context": float(np.mean(fixed))}


def judge_context(n: Numbers) -> Judgement:
    """Printed: any weight of the context. Corrected: one that does not vary with the draw, or ρ = 1 with RG targets."""
    kept, fixed = n["order kept by exponent"], n["share kept with one weight per context"] == 1
    broken = [name for name, ok in kept.items() if not ok]
    return Judgement(
        decide(fixed and not broken, fixed and kept.get("1", False)),
        f"a weight fixed for the context keeps the order in {n['share kept with one weight per context']:.0%} of 200 "
        f"random distributions; weights |I_x|^ρ with random |I_x| break it for ρ = {', '.join(broken) or 'none'} and "
        "keep it for ρ = 1 (A wanted with probability 0.52, B with 0.48, one of them always along with four others)",
    )


CLAIMS = (
    Claim(
        id="context-weights-suffice",
        group=GROUP,
        source=f"{PU_2025}, Corollary 11",
        statement="Squared loss with a positive weight per context, w_x, and larger targets for positives than for "
        "negatives is consistent with DCG.",
        method="The expected loss minimised, by a general least-squares solver, for random distributions over sets "
        "with one random weight per context, and for two-set cases with weights |I_x|^ρ that vary with the draw.",
        experiment=context_weights,
        judge=judge_context,
        change={"exponents": (1.0,)},
        change_in_words="the papers' exponent ρ = 1 alone",
        correction="The weight must not depend on what is drawn. |I_x|^ρ does; with targets r·N/|I_x| − 1 the order is "
        "safe for ρ = 1, or where |I_x| is fixed. The condition is sufficient, not necessary (label-weights).",
    ),
    Claim(
        id="label-weights",
        group=GROUP,
        source=f"{PU_2025}, Sec. 4.2, after Eq. 30; {SUMMARY_2025}, Mechanism 2",
        statement="Weighting positives and negatives differently, as WRMF does, may break consistency with DCG.",
        method="Weighted squared loss minimised, by a general least-squares solver, for 500 random relevances and "
        "weights, by label alone and by item and label.",
        experiment=label_weights,
        judge=judge_label,
        change={"kind": "item and label"},
        change_in_words="weights that differ between items in the first part, too",
        correction="Weights by label that all items share keep every order: the optimum w₊η/(w₊η + w₋(1−η)) rises with "
        "η. Only weights that differ between items break it.",
    ),
    Claim(
        id="positive-weights-if-and-only-if",
        group=GROUP,
        source=f"{PU_2024}, Corollary B.5",
        statement="Squared loss is consistent with DCG if and only if all weights are positive and positives have "
        "larger targets than negatives.",
        method="Weighted squared loss minimised for two items of relevance 0.5 and 0.6 with weights 10 and 1 on their "
        "positives, and for 500 random cases.",
        experiment=sufficient_and_necessary,
        judge=judge_sufficient,
        change={"kind": "one"},
        change_in_words="equal weights for all items and labels",
        correction="Positive weights are not enough; weights by context alone are (context-weights-suffice), as are "
        "weights by label that all items share (label-weights).",
    ),
)
