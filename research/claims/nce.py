"""Noise-contrastive estimation: which of its biases vanish, and which do not."""

from __future__ import annotations

import numpy as np
from scipy.special import expit

from research.claims.claim import Claim, Figure, Judgement, Numbers, decide
from research.claims.dense import Floats, slope, softmax
from research.claims.draws import least
from research.papers import SUMMARY_2026

GROUP = "Softmax family: sampling"
NOISE = [1, 10, 100, 1000, 10_000]


def risk(o: Floats, eta: Floats, q: Floats, k: int, offset: str) -> tuple[float, Floats]:
    """Return the expected loss Σ η softplus(−t) + k Σ q softplus(t), t = o − log(kq), and its gradient in o."""
    t = o - np.log(k * q) if offset == "log kq" else o
    value = eta @ np.logaddexp(0, -t) + k * q @ np.logaddexp(0, t)
    return float(value), -eta * expit(-t) + k * q * expit(t)


def world(seed: int, n: int = 6) -> tuple[Floats, Floats]:
    """Return data probabilities and a proposal of another shape."""
    rng = np.random.default_rng(seed)
    return rng.dirichlet(np.full(n, 2.0)), rng.dirichlet(np.full(n, 4.0))


def free_fit(eta: Floats, q: Floats, k: int, offset: str) -> Floats:
    """Return softmax of the scores of least risk, one per item."""
    scale = 1 / (1 + k)  # keeps the optimiser's tolerances meaningful

    def scaled(o: Floats) -> tuple[float, Floats]:
        value, gradient = risk(o, eta, q, k, offset)
        return scale * value, scale * gradient

    start = np.log(eta * (1.2 ** np.arange(len(eta))))  # beside the solution, which is only to be kept or left
    return softmax(least(scaled, start if offset == "log kq" else np.zeros_like(eta)))


def tied_fit(eta: Floats, q: Floats, k: int | None) -> Floats:
    """Return the fit of o_y = a x_y + b, two numbers for all items; k = None is softmax itself."""
    x = np.linspace(-1, 1, len(eta))
    design = np.stack((x, np.ones_like(x)), axis=1)

    def value(z: Floats) -> tuple[float, Floats]:
        o = design @ z
        if k is None:
            p = softmax(o)
            return float(-eta @ np.log(p)), design.T @ (p - eta)
        loss, gradient = risk(o, eta, q, k, "log kq")
        return loss, design.T @ gradient

    return softmax(design @ least(value, np.array([0.0, -np.log(len(eta))])))


def three_biases(seed: int, *, offset: str = "log kq") -> Numbers:
    """Loss value, gradient and fit of NCE against softmax, by number of noise draws."""
    eta, q = world(seed)
    rng = np.random.default_rng(seed + 1)
    o = np.log(softmax(np.log(eta) + 0.5 * rng.standard_normal(len(eta))))  # Σ exp(o) = 1
    wanted = softmax(o) - eta
    limit = tied_fit(eta, q, None)
    numbers: Numbers = {
        "draws": NOISE,
        "loss gap": [],
        "gradient gap": [],
        "fit": [],
        "fit of a model that is too small": [],
    }
    for k in NOISE:
        value, gradient = risk(o, eta, q, k, offset)
        numbers["loss gap"].append(value - float(-eta @ o))
        numbers["gradient gap"].append(float(np.linalg.norm(gradient - wanted) / np.linalg.norm(wanted)))
        numbers["fit"].append(float(np.abs(free_fit(eta, q, k, offset) - eta).max()))
        numbers["fit of a model that is too small"].append(float(np.abs(tied_fit(eta, q, k) - limit).max()))
    numbers["exponent of the gradient gap"] = slope(NOISE[1:4], numbers["gradient gap"][1:4])
    return numbers


def judge_biases(n: Numbers) -> Judgement:
    """A bias that never vanishes shows in what is fitted, or in the gradient."""
    stays = max(n["fit"]) > 1e-4 or n["gradient gap"][-1] > 0.05
    return Judgement(
        decide(stays),
        f"the values of the losses differ by {n['loss gap'][0]:.2f} to {n['loss gap'][-1]:.2f}, but the gradients by "
        f"{n['gradient gap'][0]:.2g}, {n['gradient gap'][1]:.2g}, {n['gradient gap'][2]:.2g} and "
        f"{n['gradient gap'][3]:.2g} of their size for 1, 10, 100 and 1,000 draws (exponent "
        f"{n['exponent of the gradient gap']:.2f}), and the fitted probabilities by {max(n['fit']):.0e} for every "
        f"number of draws; in a model too small to fit, its distance to softmax's fit falls from "
        f"{n['fit of a model that is too small'][0]:.2g} to {n['fit of a model that is too small'][-1]:.1g}",
    )


CLAIMS = (
    Claim(
        id="nce-bias-never-vanishes",
        group=GROUP,
        source=f"{SUMMARY_2026}, Mechanism 2, Key results, Design trade-offs",
        statement="NCE has an irreducible structural bias, (1+k)·JS, which does not vanish as the number of noise "
        "draws grows.",
        method="Exact expected loss of NCE (6 items, 1 to 10,000 draws) against softmax: the values, the gradient at "
        "normalised scores, the fitted probabilities, and those of a model with two parameters that cannot fit.",
        experiment=three_biases,
        judge=judge_biases,
        change={"offset": "none"},
        change_in_words="scores without the offset log(kq), which is negative sampling and not NCE",
        correction="Only the values of the losses differ, by a quantity that says nothing of the minimum. What NCE "
        "fits is exact for every k if the scores can be normalised; its gradient tends to softmax's as 1/k.",
        figure=Figure(
            "draws", ("gradient gap", "fit of a model that is too small"), "NCE against softmax", log_x=True, log_y=True
        ),
    ),
)
