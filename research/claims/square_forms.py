"""RG² and RG× as sums of squares, and the printed slips in them."""

from __future__ import annotations

import numpy as np

from research.claims.claim import Claim, Judgement, Numbers, decide
from research.claims.dense import Floats, binary_matrix, spread
from research.papers import PU_2024, PU_2025

GROUP = "From softmax to RG"
EXACT = 1e-9
M, N = 7, 9


def linear_form(o: Floats, R: Floats, *, interaction: bool) -> float:
    """Return Σ_(x,y) in D of −o_y + ‖o + 1‖²/2N [− (1·o)²/2N²] (Pu et al. 2025, Eq. 15)."""
    counts, N = R.sum(axis=1), R.shape[1]
    value = -(R * o).sum() + counts @ ((o + 1) ** 2).sum(axis=1) / (2 * N)
    return float(value - counts @ o.sum(axis=1) ** 2 / (2 * N**2) if interaction else value)


def squares(o: Floats, R: Floats, S: Floats) -> float:
    """Return Σ_xy I_x (o − s)² / 2N."""
    return float(R.sum(axis=1) @ ((o - S) ** 2).sum(axis=1) / (2 * R.shape[1]))


def random_scores(rng: np.random.Generator) -> list[Floats]:
    """Return twenty random score matrices."""
    return [scale * rng.standard_normal((M, N)) for scale in np.linspace(0.1, 3.0, 20)]


def differences(seed: int, *, target: str = "N R / I − 1") -> Numbers:
    """Spread of (linear form − squares) over random scores: 0 where they differ by a constant."""
    rng = np.random.default_rng(seed)
    R = binary_matrix(rng, M, N)
    S = target_matrix(R, target)
    gaps = [linear_form(o, R, interaction=False) - squares(o, R, S) for o in random_scores(rng)]
    return {"spread of the difference": spread(gaps)}


def target_matrix(R: Floats, target: str) -> Floats:
    """Return the targets named."""
    share = R / R.sum(axis=1, keepdims=True)
    of: dict[str, Floats] = {
        "N R / I − 1": R.shape[1] * share - 1,
        "N R / I": R.shape[1] * share,
        "R / (N I) − 1": share / R.shape[1] - 1,
    }
    return of[target]


def judge_differences(n: Numbers) -> Judgement:
    """A constant difference."""
    return Judgement(
        decide(n["spread of the difference"] < EXACT),
        f"over 20 random score matrices the difference of the two forms varies by {n['spread of the difference']:.1g} "
        "of its size",
    )


def interaction_forms(seed: int, *, correction: float = 1 / N) -> Numbers:
    """Pu et al. 2025, Eq. 17: the interaction −(1·o)²/N inside the sum over y, and with the factor `correction`."""
    rng = np.random.default_rng(seed)
    R = binary_matrix(rng, M, N)
    S, counts = target_matrix(R, "N R / I − 1"), R.sum(axis=1)

    def form(o: Floats, factor: float) -> float:
        return squares(o, R, S) - factor * float(counts @ (N * o.sum(axis=1) ** 2 / N)) / (2 * N)

    scores = random_scores(rng)
    along = [form(np.full((M, N), t), 1.0) for t in (0.0, 10.0, 100.0)]
    return {
        "spread as printed": spread([linear_form(o, R, interaction=True) - form(o, 1.0) for o in scores]),
        "spread corrected": spread([linear_form(o, R, interaction=True) - form(o, correction) for o in scores]),
        "printed loss at constant scores 0, 10, 100": along,
    }


def judge_interaction(n: Numbers) -> Judgement:
    """Printed: counted N times. Corrected: once."""
    falls = n["printed loss at constant scores 0, 10, 100"]
    return Judgement(
        decide(n["spread as printed"] < EXACT, n["spread corrected"] < EXACT),
        f"as printed the form differs from the expansion by no constant (spread {n['spread as printed']:.2g}) and "
        f"falls without end along constant scores ({falls[0]:.3g}, {falls[1]:.3g}, {falls[2]:.3g} at 0, 10, 100); "
        f"counted once, the spread is {n['spread corrected']:.1g}",
    )


def parentheses(seed: int, *, corrected_sign: float = 1.0) -> Numbers:
    """Curvature along constant scores of Pu et al. 2024, Eq. 13 as printed, and with its parentheses."""
    R = binary_matrix(np.random.default_rng(seed), M, N)
    interacted, counts = R.sum(), R.sum(axis=1)

    def value(t: float, sign: float) -> float:
        return float(-interacted * t + sign * counts.sum() * N * (t + 1) ** 2 / (2 * N))

    bend = {sign: value(1, sign) - 2 * value(0, sign) + value(-1, sign) for sign in (-1.0, corrected_sign)}
    return {"curvature as printed": bend[-1.0], "curvature corrected": bend[corrected_sign], "at 100": value(100, -1.0)}


def judge_parentheses(n: Numbers) -> Judgement:
    """A loss to be minimised must bend upwards."""
    return Judgement(
        decide(n["curvature as printed"] > 0, n["curvature corrected"] > 0),
        f"along constant scores the printed loss bends downwards (second difference {n['curvature as printed']:.3g}, "
        f"value {n['at 100']:.3g} at score 100); with parentheses it bends upwards ({n['curvature corrected']:.3g})",
    )


CLAIMS = (
    Claim(
        id="rg2-square-form",
        group=GROUP,
        source=f"{PU_2025}, Eq. 16, App. A.2; {PU_2024}, Eq. 14, App. B.3",
        statement="RG², summed over the data, is a weighted sum of squares: weight |I_x| and target r·N/|I_x| − 1 for "
        "every pair, but for a constant.",
        method="Both forms at 20 random score matrices (7 users, 9 items); their difference must be one number.",
        experiment=differences,
        judge=judge_differences,
        change={"target": "N R / I"},
        change_in_words="targets without the −1",
    ),
    Claim(
        id="rgx-square-form",
        group=GROUP,
        source=f"{PU_2025}, Eq. 17 (and 18)",
        statement="RG× is the same sum over all pairs with −(1·o_x)²/N added inside the sum.",
        method="The printed form against the expansion it stands for at random scores, and along constant scores.",
        experiment=interaction_forms,
        judge=judge_interaction,
        change={"correction": 1.0},
        change_in_words="no correction: the interaction term stays inside the sum over items",
        correction="Inside the sum over y the term is counted N times; it belongs outside (or takes 1/N² in place of "
        "1/N). As printed the loss has no minimum.",
    ),
    Claim(
        id="algorithm-1-targets",
        group=GROUP,
        source=f"{PU_2025} and {PU_2024}, Algorithm 1, line 7",
        statement="The targets of the algorithm are S = (1/N) Diag(|I_x|)⁻¹ R − 1.",
        method="The sum of squares with these targets against RG² at random scores; the same with N in place of 1/N.",
        experiment=lambda seed, corrected="N R / I − 1": {
            "spread as printed": differences(seed, target="R / (N I) − 1")["spread of the difference"],
            "spread corrected": differences(seed, target=corrected)["spread of the difference"],
        },
        judge=lambda n: Judgement(
            decide(n["spread as printed"] < EXACT, n["spread corrected"] < EXACT),
            f"with the printed targets the loss differs from RG² by no constant (spread {n['spread as printed']:.2g}); "
            f"with N·R/|I_x| − 1 it does ({n['spread corrected']:.1g})",
        ),
        change={"corrected": "R / (N I) − 1"},
        change_in_words="the printed targets in place of the corrected ones",
        correction="S = N Diag(|I_x|)⁻¹ R − 1, as Eq. 32 of the same paper has it.",
    ),
    Claim(
        id="rg2-parentheses-in-2024",
        group=GROUP,
        source=f"{PU_2024}, Eq. 13",
        statement="RG² is −Σ o_i − ‖o + 1‖²/2N, summed over the interactions and minimised.",
        method="Second difference of the printed loss along constant scores, and of the one with parentheses.",
        experiment=parentheses,
        judge=judge_parentheses,
        change={"corrected_sign": -1.0},
        change_in_words="no parentheses in the corrected loss either",
        correction="−Σ (o_i − ‖o + 1‖²/2N): without the parentheses the loss has no minimum.",
    ),
)
