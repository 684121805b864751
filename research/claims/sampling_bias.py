"""Bias and variance of sampled softmax in its three forms: of the loss, of the gradient and of what is fitted."""

from __future__ import annotations

import numpy as np

from research.claims.claim import Claim, Figure, Judgement, Numbers, decide
from research.claims.dense import Floats, slope, softmax
from research.claims.draws import FORMS, chi_square, fitted, moments
from research.papers import PU_2025, SUMMARY_2026

GROUP = "Softmax family: sampling"
FIRST, SECOND, THIRD, PLAIN = FORMS
DRAWS = [4, 8, 16, 32, 64, 128, 256]


def world(seed: int) -> tuple[Floats, Floats]:
    """Return the scores of three items and a proposal that fits them badly."""
    rng = np.random.default_rng(seed)
    return np.array([1.2, 0.1, -0.9]) + 0.1 * rng.standard_normal(3), np.array([0.2, 0.3, 0.5])


def bias_term(seed: int, *, form: str = SECOND) -> Numbers:
    """Bias of the loss times n, against −χ²/2 and against p_y/q_y − χ²/2 (the mean over positives from p)."""
    o, q = world(seed)
    p = softmax(o)
    bias = [moments(o, q, n, form, p)["loss bias"] for n in DRAWS]
    printed = -0.5 * chi_square(p, q)
    own = {FIRST: len(p) * float(p @ p), SECOND: float(p @ (p / q)), THIRD: 0.0, PLAIN: 0.0}[form]
    return {
        "draws": DRAWS,
        "bias": bias,
        "bias × draws at the end": bias[-1] * DRAWS[-1],
        "printed: −χ²/2": printed,
        "with the positive: + E[p/q]": printed + own,
        "exponent": slope(DRAWS[2:], np.abs(bias[2:])),
    }


def judge_bias_term(n: Numbers) -> Judgement:
    """The measured coefficient is the stated one, to five per cent."""
    measured = n["bias × draws at the end"]

    def near(value: float) -> bool:
        return bool(abs(measured - value) <= 0.05 * abs(value))

    return Judgement(
        decide(near(n["printed: −χ²/2"]), near(n["with the positive: + E[p/q]"])),
        f"the bias falls as n to the power {n['exponent']:.2f}; times n it tends to {measured:.3f}, where the stated "
        f"term is {n['printed: −χ²/2']:.3f} and that with the positive among the candidates "
        f"{n['with the positive: + E[p/q]']:.3f}",
    )


def vanishing(seed: int, *, forms: tuple[str, ...] = (FIRST, SECOND, THIRD)) -> Numbers:
    """Bias of loss and gradient at 4 and 256 draws, and distance of the fitted probabilities at 1 and 32 draws."""
    o, q = world(seed)
    p = softmax(o)
    rows: Numbers = {}
    for form in forms:
        ends = [moments(o, q, n, form, p) for n in (DRAWS[0], DRAWS[-1])]
        fits = [float(np.abs(fitted(p, q, n, form) - p).max()) for n in (1, 8, 32)]
        rows[form] = {
            "loss bias at 4 and 256": [end["loss bias"] for end in ends],
            "gradient bias at 4 and 256": [end["gradient bias"] for end in ends],
            "gradient variance at 4 and 256": [end["gradient variance"] for end in ends],
            "error of the fitted probabilities at 1, 8, 32": fits,
        }
    return rows


def judge_vanishing(n: Numbers) -> Judgement:
    """Vanishes: 64 times the draws leave less than a twentieth of the bias of loss and gradient."""

    def vanishes(row: Numbers) -> bool:
        biases = (row["loss bias at 4 and 256"], row["gradient bias at 4 and 256"])
        return all(abs(last) < abs(first) / 20 for first, last in biases)

    ok = {name: vanishes(row) for name, row in n.items()}
    words = "; ".join(
        f"{name}: loss bias {row['loss bias at 4 and 256'][1]:+.4f} at 256 draws, gradient "
        f"{row['gradient bias at 4 and 256'][1]:.4f}, fitted probabilities off by "
        f"{row['error of the fitted probabilities at 1, 8, 32'][0]:.3f} at 1 draw and "
        f"{row['error of the fitted probabilities at 1, 8, 32'][2]:.3f} at 32"
        for name, row in n.items()
    )
    return Judgement(decide(all(ok.values()), ok[FIRST] and ok[SECOND]), words)


def stability(seed: int, *, decay: float = 0.0) -> Numbers:
    """Variance of loss and gradient by number of draws; `decay` lets the proposal of the likeliest item fall with n."""
    o, q = world(seed)
    found = []
    for n in DRAWS:
        worse = q * np.array([(n / DRAWS[0]) ** -decay, 1.0, 1.0])
        found.append(moments(o, worse / worse.sum(), n, SECOND, softmax(o)))
    loss = [row["loss variance"] for row in found]
    return {
        "draws": DRAWS,
        "variance of the loss": loss,
        "variance of the gradient": [row["gradient variance"] for row in found],
        "exponent of the variance": slope(DRAWS[2:], loss[2:]),
        "predicted coefficient χ²": chi_square(softmax(o), q),
        "variance × draws at the end": loss[-1] * DRAWS[-1],
    }


def judge_stability(n: Numbers) -> Judgement:
    """Unstable with many draws: the variance grows."""
    return Judgement(
        decide(n["exponent of the variance"] > 0),
        f"the variance of the loss falls with the number of draws to the power {n['exponent of the variance']:.2f}; "
        f"times n it tends to {n['variance × draws at the end']:.3f} (χ² of the mismatch: "
        f"{n['predicted coefficient χ²']:.3f})",
    )


CLAIMS = (
    Claim(
        id="sampled-softmax-bias-term",
        group=GROUP,
        source=f"{SUMMARY_2026}, Mechanism 2",
        statement="The bias of sampled softmax with k draws is −χ²(P‖Q)/2k.",
        method="Exact expectation over all draws (3 items, 4 to 256 draws, a badly matched proposal) of the form with "
        "−log(nq) on positive and draws; bias times n against the stated coefficient.",
        experiment=bias_term,
        judge=judge_bias_term,
        change={"form": PLAIN},
        change_in_words="an estimate of the normaliser from the draws alone, without the positive",
        correction="Where the positive is one of the candidates, as in the loss that is trained, E[p_y/q_y]/k comes on "
        "top (N E[p_y]/k for the form of Pu et al. 2025). The rate 1/k is right.",
        figure=Figure("draws", ("bias",), "Bias of the loss", log_x=True),
    ),
    Claim(
        id="sampled-softmax-unbiased-in-the-limit",
        group=GROUP,
        source=f"{SUMMARY_2026}, Mechanism 2, Key results; {PU_2025}, Eq. 9",
        statement="The bias of sampled softmax vanishes as the number of draws grows.",
        method="As before for the three corrections in use: −log(Nq) on the draws (Pu et al. 2025), −log(nq) on all "
        "candidates, and −log(nq) on the draws only; of loss, gradient and fitted probabilities apart.",
        experiment=vanishing,
        judge=judge_vanishing,
        change={"forms": (FIRST, SECOND)},
        change_in_words="the first two forms alone",
        correction="True of the first two, and with −log(nq) on all candidates the fitted probabilities are exact for "
        "every number of draws. The third counts the positive twice, and its bias log(1 + p_y) stays.",
    ),
    Claim(
        id="sampled-softmax-unstable-with-many-draws",
        group=GROUP,
        source=f"{SUMMARY_2026}, Failure signatures",
        statement="With a mismatched proposal the loss of sampled softmax becomes unstable for large k, because of its "
        "variance.",
        method="Exact variance of loss and gradient over all draws, 4 to 256 of them.",
        experiment=stability,
        judge=judge_stability,
        change={"decay": 1.2},
        change_in_words="a proposal that gets worse with every draw that is added",
        correction="The variance falls as χ²/k: more draws steady it. A mismatched proposal makes few draws costly.",
        figure=Figure(
            "draws", ("variance of the loss", "variance of the gradient"), "Variance", log_x=True, log_y=True
        ),
    ),
)
