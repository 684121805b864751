"""The baselines as the papers print them: sparsemax loss and sampled softmax."""

from __future__ import annotations

from functools import partial

import numpy as np

from research.claims.claim import Claim, Judgement, Numbers, decide
from research.claims.dense import Floats, relative, softmax
from research.claims.draws import FORMS, all_draws, least, values_and_gradients
from research.papers import PU_2024, PU_2025

GROUP = "Printed baselines"
CORRECTED_Q = list(FORMS)[1]


def projection(o: Floats) -> Floats:
    """Return the point of the simplex nearest to o, by sorting."""
    falling = -np.sort(-o)
    sums = np.cumsum(falling) - 1
    count = int(np.flatnonzero(falling - sums / np.arange(1, len(o) + 1) > 0)[-1]) + 1
    p: Floats = np.maximum(o - sums[count - 1] / count, 0.0)
    return p


def inner_loss(o: Floats, y: int) -> float:
    """Return −o_y + ½ Σ_{S} (o² − τ²) + ½: what stands in the parentheses."""
    inside = projection(o) > 0
    tau = (o[inside].sum() - 1) / inside.sum()
    return float(-o[y] + 0.5 * (o[inside] ** 2 - tau**2).sum() + 0.5)


def sparsemax_sign(seed: int, *, sign: float = 1.0) -> Numbers:
    """Slope of the printed loss, and of `sign` times its parentheses, against p − e_y; least values on the way."""
    rng = np.random.default_rng(seed)
    slopes, wanted, values = [], [], []
    for _ in range(50):
        o = rng.standard_normal(6)
        steps = 1e-6 * np.eye(6)
        slopes.append([(inner_loss(o + e, 0) - inner_loss(o - e, 0)) / 2e-6 for e in steps])
        wanted.append(projection(o) - np.eye(6)[0])
        values.append(inner_loss(o, 0))
    return {
        "error of the slope as printed": relative(-np.array(slopes), wanted),
        "error of the slope corrected": relative(sign * np.array(slopes), wanted),
        "least value as printed": -max(values),
        "least value corrected": min(sign * value for value in values),
    }


def judge_sign(n: Numbers) -> Judgement:
    """The slope of a Fenchel-Young loss is p − e_y."""
    printed, corrected = n["error of the slope as printed"], n["error of the slope corrected"]
    return Judgement(
        decide(printed < 1e-5, corrected < 1e-5),
        f"the slope of the printed loss misses p − e_y by {printed:.0%} and it goes down to "
        f"{n['least value as printed']:.1f}; without the leading minus the slope is right ({corrected:.0e}) and the "
        "loss never negative",
    )


def without_the_log(seed: int, *, decay: float = 1e-4, draws: int = 4) -> Numbers:
    """What sampled softmax fits, in expectation over all draws, as printed (−p) and with its logarithm (−log p)."""
    rng = np.random.default_rng(seed)
    eta, q = rng.permutation([0.5, 0.3, 0.2]), np.array([0.2, 0.3, 0.5])

    def risk(z: Floats, kind: str) -> tuple[float, Floats]:
        chance, losses, gradients = values_and_gradients(np.append(0.0, z), q, draws, CORRECTED_Q)
        if kind == "plain":  # d(−p) = p · d(−log p)
            p = np.exp(-losses - np.log(draws * q))
            losses, gradients = -p, gradients * p[:, :, None]
        # a trace of weight decay, without which the printed loss has no minimum at all
        value = float(chance @ losses @ eta) + 0.5 * decay * float(z @ z)
        return value, np.einsum("s,syj,y->j", chance, gradients, eta)[1:] + decay * z

    fits = {kind: softmax(np.append(0.0, least(partial(risk, kind=kind), np.zeros(2)))) for kind in ("plain", "log")}
    return {
        "probabilities": eta,
        "fitted as printed": fits["plain"],
        "fitted with the logarithm": fits["log"],
        "multisets of draws": len(all_draws(q, draws)[1]),
    }


def judge_log(n: Numbers) -> Judgement:
    """The fitted probabilities are those of the data."""

    def off(name: str) -> float:
        return float(np.abs(np.array(n[name]) - np.array(n["probabilities"])).max())

    shown = [", ".join(f"{value:.2f}" for value in n[name]) for name in ("probabilities", "fitted as printed")]
    return Judgement(
        decide(off("fitted as printed") < 0.01, off("fitted with the logarithm") < 0.01),
        f"for items of probability {shown[0]} the printed loss fits {shown[1]}; with the logarithm the fit is off by "
        f"{off('fitted with the logarithm'):.0e}",
    )


CLAIMS = (
    Claim(
        id="sparsemax-loss-sign",
        group=GROUP,
        source=f"{PU_2025}, App. B.2; {PU_2024}, Sec. 4.1.2",
        statement="Sparsemax loss is −Σ(−o_y + ½ Σ_S (o² − τ²) + ½).",
        method="Slope by central differences at 50 random score vectors against p − e_y, p being the projection on the "
        "simplex.",
        experiment=sparsemax_sign,
        judge=judge_sign,
        change={"sign": -1.0},
        change_in_words="the leading minus kept",
        correction="There is no leading minus: as printed, minimising it makes the positive the worst item.",
    ),
    Claim(
        id="sampled-softmax-without-logarithm",
        group=GROUP,
        source=f"{PU_2024}, Sec. 4.1.2",
        statement="Sampled softmax minimises minus the sampled probability itself.",
        method="What is fitted in expectation over all draws (3 items, 4 draws, a proposal that is not uniform), with "
        "and without the logarithm.",
        experiment=without_the_log,
        judge=judge_log,
        change={"decay": 1.0},
        change_in_words="a weight decay of 1, which holds the scores back",
        correction="Minus its logarithm: without it the most probable item takes all, and the order of the others is "
        "lost.",
    ),
)
