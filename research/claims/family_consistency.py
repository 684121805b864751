"""Calibration, order and consistency of softmax, sparsemax and entmax."""

from __future__ import annotations

import numpy as np

from research.claims.claim import Claim, Judgement, Numbers, decide
from research.claims.dense import dcg_regret
from research.claims.distributions import keeps_order
from research.claims.family import EXACT_LOSSES, least_risk, predictions, random_posteriors
from research.papers import PU_2024, PU_2025, SUMMARY_2026

GROUP = "Softmax family: order and calibration"
POSTERIORS = 8


def tie_excess(seed: int, *, names: tuple[str, ...] = EXACT_LOSSES, first_only: bool = True, zeros: int = 0) -> Numbers:
    """Least excess risk when items k and k + 1 of the order by probability must score alike, by loss."""
    found: Numbers = {}
    for name in names:
        lowest = np.inf
        for eta in random_posteriors(seed, POSTERIORS, zeros=0 if name == "softmax" else zeros):
            best = least_risk(name, eta)[0]
            order = np.argsort(-eta)
            for k in range(1 if first_only else len(eta) - 1):
                if eta[order[k]] > eta[order[k + 1]]:
                    tied = least_risk(name, eta, tied=(int(order[k]), int(order[k + 1])))[0]
                    lowest = min(lowest, tied - min(best, tied))  # what is tied is allowed without the tie, too
        found[name] = float(lowest)
    return {"least excess": found, "posteriors": POSTERIORS}


def judge_excess(n: Numbers) -> Judgement:
    """Calibrated: a wrong order costs something, always."""
    shown = ", ".join(f"{name} {value:.1e}" for name, value in n["least excess"].items())
    return Judgement(
        decide(min(n["least excess"].values()) > 1e-5),
        f"over {n['posteriors']} random posteriors the least price of scoring alike what differs in probability is "
        f"{shown}",
    )


def orders_of_minima(seed: int, *, names: tuple[str, ...] = EXACT_LOSSES) -> Numbers:
    """Share of posteriors whose order the scores of least risk have, and the DCG that they lose."""
    found: Numbers = {}
    for name in names:
        cases = random_posteriors(seed, POSTERIORS)
        cases += random_posteriors(seed + 1, POSTERIORS, zeros=0 if name == "softmax" else 2)
        scores = [least_risk(name, eta)[1] for eta in cases]
        found[name] = {
            "order kept": float(np.mean([keeps_order(o, eta) for o, eta in zip(scores, cases, strict=True)])),
            "largest regret": max(dcg_regret(o, eta) for o, eta in zip(scores, cases, strict=True)),
        }
    return found


def judge_minima(n: Numbers) -> Judgement:
    """Every order kept."""
    shown = ", ".join(
        f"{name} {row['order kept']:.0%} (lost DCG {row['largest regret']:.1g})" for name, row in n.items()
    )
    return Judgement(
        decide(all(row["order kept"] == 1 for row in n.values())),
        f"share of posteriors whose order the scores of least risk have: {shown}",
    )


def ties(seed: int, *, size: float = 2.0, vectors: int = 200, n_items: int = 30) -> Numbers:
    """Pairs of unlike scores with like predictions, and with reversed ones."""
    rng = np.random.default_rng(seed)
    o = np.sort(size * rng.standard_normal((vectors, n_items)), axis=1)
    found: Numbers = {}
    for name in EXACT_LOSSES:
        steps = np.diff(predictions(name, o), axis=1)
        found[name] = {"ties": float((steps == 0).mean()), "reversals": float((steps < -1e-12).mean())}
    return found


def judge_ties(n: Numbers) -> Judgement:
    """Softmax strict; sparsemax and entmax weak; none reverses."""
    weak = min(n["sparsemax"]["ties"], n["entmax"]["ties"]) > 0
    never = all(row["reversals"] == 0 for row in n.values())
    shown = ", ".join(f"{name} {row['ties']:.0%}" for name, row in n.items())
    return Judgement(
        decide(n["softmax"]["ties"] == 0 and weak and never),
        f"neighbours in the order of 30 random scores that get the same probability: {shown}; reversals: "
        f"{max(row['reversals'] for row in n.values()):.0%}",
    )


CLAIMS = (
    Claim(
        id="classification-calibrated",
        group=GROUP,
        source=f"{SUMMARY_2026}, Key results; {PU_2025}, Prop. 5",
        statement="Softmax, sparsemax and entmax are classification-calibrated: the scores of least risk put the most "
        "probable item first, and any other winner costs something.",
        method="8 random posteriors over 5 items; the least risk when the two most probable items must score alike, "
        "minus the least risk without that.",
        experiment=tie_excess,
        judge=judge_excess,
        change={"names": ("hinge",)},
        change_in_words="the hinge loss, under which the two most probable items may score alike at no cost",
        needs_torch=True,
    ),
    Claim(
        id="top-k-calibrated",
        group=GROUP,
        source=f"{SUMMARY_2026}, Mechanism 3; {PU_2025}, Prop. 5, Def. 20; {PU_2024}, Prop. 3.8",
        statement="They are top-k calibrated for every k; the sparse ones although they give many items no "
        "probability.",
        method="The same for every neighbouring pair in the order by probability; for sparsemax and entmax with one "
        "item that is never positive.",
        experiment=lambda seed, names=EXACT_LOSSES: tie_excess(seed, names=names, first_only=False, zeros=1),
        judge=judge_excess,
        change={"names": ("hinge",)},
        change_in_words="the hinge loss in place of the three",
        needs_torch=True,
    ),
    Claim(
        id="sparse-losses-dcg-consistent",
        group=GROUP,
        source=f"{SUMMARY_2026}, Key results, Mechanism 3; {PU_2025}, Prop. 6",
        statement="Softmax, sparsemax and entmax are consistent with DCG.",
        method="The scores of least risk for 16 random posteriors over 5 items, half of them (for the sparse losses) "
        "with two items that are never positive: do they rank by probability?",
        experiment=orders_of_minima,
        judge=judge_minima,
        change={"names": ("hinge",)},
        change_in_words="the hinge loss in place of the three",
        needs_torch=True,
    ),
    Claim(
        id="strict-and-weak-order",
        group=GROUP,
        source=f"{SUMMARY_2026}, Mechanism 1",
        statement="Softmax preserves the order of scores strictly, sparsemax and entmax weakly: unlike scores may get "
        "equal probabilities, but never reversed ones.",
        method="200 vectors of 30 random scores; neighbours in the order with equal or reversed probabilities.",
        experiment=ties,
        judge=judge_ties,
        change={"size": 0.001},
        change_in_words="scores so flat that every item is in the support, where sparsemax is strict too",
        needs_torch=True,
    ),
)
