"""Which proposal to draw negatives from: variance, bias, and what hard negatives do to both."""

from __future__ import annotations

import numpy as np

from research.claims.claim import Claim, Figure, Judgement, Numbers, decide
from research.claims.dense import Floats, softmax
from research.claims.draws import FORMS, moments, values_and_gradients
from research.papers import SUMMARY_2026

GROUP = "Softmax family: sampling"
FIRST, SECOND, *_ = FORMS


def scores(seed: int) -> Floats:
    """Return the scores of four items."""
    return np.array([1.5, 0.6, -0.3, -1.2]) + 0.1 * np.random.default_rng(seed).standard_normal(4)


def tempered(
    seed: int, *, powers: tuple[float, ...] = (-0.5, 0.0, 0.25, 0.5, 0.75, 1.0, 1.5), draws: int = 16
) -> Numbers:
    """Variance of loss and gradient for proposals q ∝ p^t."""
    o = scores(seed)
    p = softmax(o)
    rows = [moments(o, p**t / (p**t).sum(), draws, SECOND, p) for t in powers]
    of_gradient = [row["gradient variance"] for row in rows]
    of_loss = [row["loss variance"] if row["loss variance"] > 1e-20 else 0.0 for row in rows]  # the rest is rounding
    uniform = powers.index(0.0)
    return {
        "power": list(powers),
        "variance of the loss": of_loss,
        "variance of the gradient": of_gradient,
        "best power for the loss": powers[int(np.argmin(of_loss))],
        "best power for the gradient": powers[int(np.argmin(of_gradient))],
        "gradient, uniform over best": of_gradient[uniform] / min(of_gradient),
    }


def judge_tempered(n: Numbers) -> Judgement:
    """The aligned proposal has least variance, clearly below the uniform one."""
    return Judgement(
        decide(all(0.5 <= n[f"best power for the {name}"] <= 1.0 for name in ("loss", "gradient"))),
        f"among proposals q ∝ p^t the loss has least variance at t = {n['best power for the loss']:g} (none at all at "
        f"t = 1), its gradient at t = {n['best power for the gradient']:g}, where uniform draws have "
        f"{n['gradient, uniform over best']:.2f} times that variance",
    )


def hard_negatives(seed: int, *, pool: int = 4) -> Numbers:
    """Squared error of the mean gradient with uniform draws and with the hardest of `pool`, by number of draws."""
    o = scores(seed)
    p = softmax(o)
    uniform = np.full(4, 0.25)
    rank = np.argsort(np.argsort(-o))  # 0 for the highest score
    hardest = ((4 - rank) / 4) ** pool - ((3 - rank) / 4) ** pool
    draws = [2, 4, 8, 16, 32]
    errors: Numbers = {"draws": draws, "uniform": [], "hardest": [], "variance, uniform": [], "variance, hardest": []}
    for n in draws:
        for name, q in (("uniform", uniform), ("hardest", hardest)):
            bias, variance = _uncorrected(o, p, q, n)
            errors[name].append(bias + variance)
            errors[f"variance, {name}"].append(variance)
    return errors


def _uncorrected(o: Floats, p: Floats, q: Floats, n: int) -> tuple[float, float]:
    """Return squared bias and variance of the gradient where draws from q are taken for uniform ones."""
    chance, _, _ = values_and_gradients(o, q, n, FIRST)
    _, _, gradients = values_and_gradients(o, np.full_like(q, 1 / len(q)), n, FIRST)
    mean = np.einsum("s,syj->yj", chance, gradients)
    bias = p @ ((mean - (p[None, :] - np.eye(len(p)))) ** 2).sum(axis=1)
    return float(bias), float(p @ (chance @ ((gradients - mean) ** 2).sum(axis=2)))


def judge_hard(n: Numbers) -> Judgement:
    """Printed: less variance and less error. Corrected: less variance at first, more error in the end."""
    calmer = all(h < u for h, u in zip(n["variance, hardest"], n["variance, uniform"], strict=True))
    nearer = [h < u for h, u in zip(n["hardest"], n["uniform"], strict=True)]
    return Judgement(
        decide(calmer and all(nearer), calmer),
        f"at {n['draws'][0]} draws the squared error of the gradient is {n['hardest'][0]:.3f} with the hardest of a "
        f"pool against {n['uniform'][0]:.3f} with uniform draws (variance {n['variance, hardest'][0]:.3f} against "
        f"{n['variance, uniform'][0]:.3f}); at {n['draws'][-1]} draws {n['hardest'][-1]:.3f} against "
        f"{n['uniform'][-1]:.4f}",
    )


CLAIMS = (
    Claim(
        id="aligned-proposal-lowers-variance",
        group=GROUP,
        source=f"{SUMMARY_2026}, First experiments 3, Design trade-offs",
        statement="A proposal that is aligned with the model's distribution lowers the variance of sampled softmax.",
        method="Exact variance over all draws (4 items, 16 draws) for proposals q ∝ p^t, corrected for q; t = 0 is "
        "uniform, t = 1 the model itself.",
        experiment=tempered,
        judge=judge_tempered,
        change={"powers": (-0.5, 0.0, -0.25, -1.0, -1.5)},
        change_in_words="proposals that prefer what the model does not",
        figure=Figure(
            "power", ("variance of the loss", "variance of the gradient"), "Variance for q ∝ p^t", log_y=True
        ),
    ),
    Claim(
        id="hard-negatives-lower-error",
        group=GROUP,
        source=f"{SUMMARY_2026}, First experiments 3 (dynamic negative sampling)",
        statement="Drawing the hardest of a pool (dynamic negative sampling) aligns the proposal and lowers the error.",
        method="Exact squared error of the gradient against softmax (4 items, pool of 4): such draws have no known "
        "probability, so they are used as if they were uniform.",
        experiment=hard_negatives,
        judge=judge_hard,
        change={"pool": 1},
        change_in_words="a pool of one, which is uniform sampling",
        correction="It lowers the variance and brings a bias that more draws do not remove, as it cannot be corrected "
        "for. That it may rank better is another matter: it optimises something else.",
        figure=Figure("draws", ("uniform", "hardest"), "Squared error of the gradient", log_x=True, log_y=True),
    ),
)
