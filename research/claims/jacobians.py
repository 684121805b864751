"""How steep the prediction maps are, and where their gradients vanish."""

from __future__ import annotations

import numpy as np
from scipy.special import expit

from research.claims.claim import Claim, Figure, Judgement, Numbers, decide
from research.claims.dense import Floats
from research.claims.family import EXACT_LOSSES, of_positives, predictions
from research.papers import SUMMARY_2026

GROUP = "Softmax family: gradients"
BOUNDS = {"softmax": 0.5, "sparsemax": 1.0, "entmax": 2**-0.5, "nce": 0.25}
STEP = 1e-5


def norm_of(name: str, o: Floats, *, sharpness: float) -> float:
    """Return the spectral norm of the Jacobian of the prediction at o, by central differences."""
    moves = STEP * np.eye(len(o))
    around = sharpness * (o + np.vstack((moves, -moves)))
    found = expit(around) if name == "nce" else predictions(name, around)
    return float(np.linalg.norm((found[: len(o)] - found[len(o) :]) / (2 * STEP), ord=2))


def largest_norms(seed: int, *, sharpness: float = 1.0, samples: int = 25, steps: int = 25) -> Numbers:
    """Largest norm over random scores, and over climbs that begin from them and from two equal scores far ahead."""
    rng = np.random.default_rng(seed)
    found: Numbers = {}
    for name, bound in BOUNDS.items():
        starts = [size * rng.standard_normal(5) for size in (0.1, 0.5, 1.0, 2.0, 5.0) for _ in range(samples // 5)]
        sampled = max(norm_of(name, o, sharpness=sharpness) for o in starts)
        best, o = sampled, np.array([0.0, 0.0, -9.0, -9.0, -9.0])
        climbed = norm_of(name, o, sharpness=sharpness)
        for _ in range(steps):
            tried = o + 0.2 * rng.standard_normal(5)
            if (value := norm_of(name, tried, sharpness=sharpness)) > climbed:
                o, climbed = tried, value
        found[name] = {"bound": bound, "random scores": best, "adversarial": max(best, climbed)}
    return found


def judge_norms(n: Numbers) -> Judgement:
    """Within the bound, and reaching it."""
    ok = all(0.97 * row["bound"] <= row["adversarial"] <= 1.001 * row["bound"] for row in n.values())
    shown = ", ".join(
        f"{name} {row['random scores']:.3f} and {row['adversarial']:.3f} (bound {row['bound']:.3f})"
        for name, row in n.items()
    )
    return Judgement(decide(ok), f"largest norms over random and over adversarial scores: {shown}")


def gradients_on_negatives(seed: int, *, lead: float = 2.5, n_items: int = 50, vectors: int = 100) -> Numbers:
    """Gradient on the five best negatives when the positive leads them by `lead`, and when it trails them by ½."""
    rng = np.random.default_rng(seed)
    o = rng.standard_normal((vectors, n_items))
    hard = np.argsort(-o[:, 1:], axis=1)[:, :5] + 1
    best = np.take_along_axis(o, hard[:, :1], axis=1)[:, 0]
    gaps = [0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0]
    two = np.stack((np.array(gaps), np.zeros(len(gaps))), axis=1)
    rows, curves = {}, {}
    for name in EXACT_LOSSES:
        on_hard = {}
        for ahead in (lead, -0.5):
            o[:, 0] = best + ahead
            gradient = of_positives(name, o, np.zeros(vectors))[1]
            on_hard[ahead] = np.take_along_axis(gradient, hard, axis=1)
        rows[name] = {
            "share without gradient, positive ahead": float((on_hard[lead] == 0).mean()),
            "mean gradient on the best negative, positive behind": float(on_hard[-0.5][:, 0].mean()),
            "share without gradient, positive behind": float((on_hard[-0.5] == 0).mean()),
        }
        curves[name] = of_positives(name, two, np.zeros(len(two)))[1][:, 1]
    return {"by loss": rows, "lead of the positive": gaps, **curves}


def judge_gradients(n: Numbers) -> Judgement:
    """Printed: hard negatives lose their gradient. Corrected: only once the positive is ahead of them."""
    rows = n["by loss"]
    ahead, behind = "share without gradient, positive ahead", "mean gradient on the best negative, positive behind"
    sparse = [rows[name] for name in ("sparsemax", "entmax")]
    vanish = min(row[ahead] for row in sparse) > 0.5 and rows["softmax"][ahead] == 0
    stronger = all(row[behind] > rows["softmax"][behind] for row in sparse)
    return Judgement(
        decide(vanish and not stronger, vanish and stronger),
        f"when the positive leads by 2.5, {rows['sparsemax'][ahead]:.0%} (sparsemax) and {rows['entmax'][ahead]:.0%} "
        f"(entmax) of the five best negatives have no gradient, under softmax {rows['softmax'][ahead]:.0%}; when it "
        f"trails by ½ the best negative gets {rows['sparsemax'][behind]:.2f} and {rows['entmax'][behind]:.2f}, under "
        f"softmax {rows['softmax'][behind]:.2f}",
    )


CLAIMS = (
    Claim(
        id="jacobian-norms",
        group=GROUP,
        source=f"{SUMMARY_2026}, Key results, Mechanism 1, Foundational learning",
        statement="The Jacobian of the prediction has a spectral norm of at most ½ for softmax, more for the sparse "
        "losses (1 for sparsemax, 2^(α−2) for entmax, α ≤ 2) and at most ¼ for NCE's sigmoid.",
        method="Central differences at random scores of several sizes, and climbs towards the largest norm.",
        experiment=largest_norms,
        judge=judge_norms,
        change={"sharpness": 2.0},
        change_in_words="scores multiplied by two inside the prediction",
        needs_torch=True,
    ),
    Claim(
        id="hard-negatives-lose-gradient",
        group=GROUP,
        source=f"{SUMMARY_2026}, Mechanism 1, Design trade-offs",
        statement="Under sparsemax and entmax the gradient vanishes on hard negatives.",
        method="50 random scores, 100 times; the gradient on the five best negatives with the positive ahead of them "
        "by 2.5 and behind them by ½.",
        experiment=gradients_on_negatives,
        judge=judge_gradients,
        change={"lead": 0.1},
        change_in_words="a positive that leads by 0.1 only",
        correction="It vanishes exactly where the positive leads by enough (1 for sparsemax, 2 for 1.5-entmax). "
        "Negatives that are truly hard, at or above the positive, get more gradient than under softmax.",
        needs_torch=True,
        figure=Figure("lead of the positive", EXACT_LOSSES, "Gradient on the negative, two items"),
    ),
)
