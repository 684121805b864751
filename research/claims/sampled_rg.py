"""Sampled RG: what n negatives drawn from the proposal make of the losses, by enumerating every draw."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np

from research.claims.claim import Claim, Figure, Judgement, Numbers, decide
from research.claims.dense import Floats
from research.papers import PU_2025, SUMMARY_2025

GROUP = "Sampled RG"
EXACT = 1e-9


def chance_of(draw: tuple[int, ...], q: Floats, *, distinct: bool) -> float:
    """Return the probability of these draws in this order, with replacement or without (`distinct`)."""
    if not distinct:
        return float(np.prod(q[list(draw)]))
    if len(set(draw)) < len(draw):
        return 0.0
    left = 1 - np.concatenate(([0.0], np.cumsum(q[list(draw)])[:-1]))
    return float(np.prod(q[list(draw)] / left))


def enumerated(o: Floats, positives: Floats, q: Floats, n: int, *, interaction: bool, distinct: bool = False) -> float:
    """Return the expected second-order loss of n draws, summed over the positives: every draw, with its probability."""
    total = 0.0
    for draw in product(range(len(q)), repeat=n):
        chance = chance_of(draw, q, distinct=distinct)
        for y in positives:
            seen = np.append(o[list(draw)], o[y])
            value = -o[y] + seen.mean() + 0.5 * (seen**2).mean()
            total += chance * (value - (0.5 * seen.mean() ** 2 if interaction else 0.0))
    return total


def exact_squares(o: Floats, r: Floats, q: Floats, n: int) -> float:
    """Return Σ_y w (o − t)², w = (r + n I q)/2(n+1), t = n (r − I q)/(r + n I q)."""
    weight, expected = r + n * r.sum() * q, r.sum() * q
    return float((weight / (2 * (n + 1)) * (o - n * (r - expected) / weight) ** 2).sum())


def exact_interaction(o: Floats, r: Floats, q: Floats, n: int) -> float:
    """Return n/(n+1)² times ½ Σ (r + nIq) o² − (n+1) Σ (r − Iq) o − (r·o)(q·o) − ½ I (n−1)(q·o)²."""
    I = r.sum()  # noqa: E741
    value = 0.5 * (r + n * I * q) @ o**2 - (n + 1) * (r - I * q) @ o
    value -= (r @ o) * (q @ o) + 0.5 * I * (n - 1) * (q @ o) ** 2
    return float(value * n / (n + 1) ** 2)


def printed(o: Floats, r: Floats, q: Floats, n: int, *, interaction: bool) -> float:
    """Pu et al. 2025, Eq. 18 with the weights of Eq. 19: I on positives, I (n+1)/N on the rest, target r N/I − 1."""
    I, N = r.sum(), len(r)  # noqa: E741
    weight = np.where(r > 0, I, I * (n + 1) / N)
    inner = (o + 1 - r * N / I) ** 2
    if interaction:
        inner = inner - (n + 1) / N**2 * o.sum() ** 2
    return float(weight @ inner)


def misfit(values: Floats, form: Floats) -> float:
    """Return what a constant and a factor cannot explain of `values` by `form`, as a share of their spread."""
    design = np.stack((form, np.ones_like(form)), axis=1)
    rest = values - design @ np.linalg.lstsq(design, values, rcond=None)[0]
    return float(np.linalg.norm(rest) / np.linalg.norm(values - values.mean()))


def enumeration(seed: int, *, interaction: bool = False, distinct: bool = False) -> Numbers:
    """Misfit of both forms at random scores, uniform and other proposals, n = 1 to 3; `distinct`: no item twice."""
    rng = np.random.default_rng(seed)
    worst = {"printed": 0.0, "exact": 0.0}
    N = 4
    for q in (np.full(N, 1 / N), np.array([0.1, 0.2, 0.3, 0.4])):
        for n, positives in ((1, [0]), (2, [0, 2]), (3, [1])):
            r = np.zeros(N)
            r[positives] = 1.0
            scores = rng.standard_normal((12, N))
            given = {"interaction": interaction, "distinct": distinct}
            values = np.array([enumerated(o, np.array(positives), q, n, **given) for o in scores])
            exact = exact_interaction if interaction else exact_squares
            forms = {"printed": np.array([printed(o, r, q, n, interaction=interaction) for o in scores])}
            forms["exact"] = np.array([exact(o, r, q, n) for o in scores])
            if not np.ptp(q):  # the paper speaks of uniform draws alone
                worst["printed"] = max(worst["printed"], misfit(values, forms["printed"]))
            worst["exact"] = max(worst["exact"], misfit(values, forms["exact"]))
    return {"misfit as printed": worst["printed"], "misfit corrected": worst["exact"]}


def judge_enumeration(n: Numbers) -> Judgement:
    """The form must explain the enumerated loss up to a factor and a constant."""
    return Judgement(
        decide(n["misfit as printed"] < EXACT, n["misfit corrected"] < EXACT),
        f"the printed weights and targets leave {n['misfit as printed']:.0%} of the enumerated expectation "
        f"unexplained, even up to a factor and a constant; the exact ones {n['misfit corrected']:.0e}",
    )


def weight_of_negatives(seed: int, *, of: str = "all draws") -> Numbers:
    """Curvature of the loss at a negative over that at the positive, by number of draws."""
    del seed
    N, r = 5, np.array([1.0, 0, 0, 0, 0])
    q = np.full(N, 1 / N)
    draws = [1, 2, 3, 4, 10, 100, 1000]
    measured = [_curvature_ratio(r, q, n) for n in draws[:4]]
    formula = [n * q[1] / (1 + n * q[0]) for n in draws]
    ratios = formula if of == "all draws" else [ratio / n for ratio, n in zip(formula, draws, strict=True)]
    gap = max(abs(a - b) for a, b in zip(measured, formula, strict=False))
    return {"draws": draws, "weight of a negative over a positive": ratios, "gap of formula and enumeration": gap}


def _curvature_ratio(r: Floats, q: Floats, n: int) -> float:
    """Return ∂²/∂o_1² over ∂²/∂o_0² of the enumerated loss, by second differences."""

    def bend(y: int) -> float:
        e = np.eye(len(q))[y]
        of = [enumerated(t * e, np.array([0]), q, n, interaction=False) for t in (-1.0, 0.0, 1.0)]
        return of[0] - 2 * of[1] + of[2]

    return bend(1) / bend(0)


def judge_negatives(n: Numbers) -> Judgement:
    """Downweighting: the ratio falls with n."""
    ratios = n["weight of a negative over a positive"]
    return Judgement(
        decide(all(later < earlier for earlier, later in pairwise(ratios))),
        f"the weight of a negative over that of a positive is {ratios[0]:.2f}, {ratios[4]:.2f} and {ratios[-1]:.2f} "
        f"for {n['draws'][0]}, {n['draws'][4]} and {n['draws'][-1]:,} draws (formula against enumeration: "
        f"{n['gap of formula and enumeration']:.0e})",
    )


CLAIMS = (
    Claim(
        id="sampled-rg2-weights",
        group=GROUP,
        source=f"{PU_2025}, Eq. 18-19",
        statement="Taylor-expanded sampled softmax with n uniform draws is, in expectation, squared loss with weight "
        "|I_x| on positives, |I_x|(n+1)/N on the rest and target r·N/|I_x| − 1.",
        method="The expectation by enumerating every draw (4 items, n = 1 to 3, uniform and other proposals) at random "
        "scores, against the printed and the exact weights.",
        experiment=enumeration,
        judge=judge_enumeration,
        change={"distinct": True},
        change_in_words="draws without replacement, whose expectation has other weights",
        correction="Weight (r + n|I_x|q)/2(n+1) and target n(r − |I_x|q)/(r + n|I_x|q), for any proposal q.",
    ),
    Claim(
        id="sampled-rgx-weights",
        group=GROUP,
        source=f"{PU_2025}, Eq. 18, second line",
        statement="With the interaction kept the same holds, with −(n+1)/N² (1·o)² added inside the sum.",
        method="As sampled-rg2-weights, with the interaction term.",
        experiment=lambda seed, distinct=False: enumeration(seed, interaction=True, distinct=distinct),
        judge=judge_enumeration,
        change={"distinct": True},
        change_in_words="draws without replacement, whose expectation has another form",
        correction="n/(n+1)² times ½Σ(r + nIq)o² − (n+1)Σ(r − Iq)o − (r·o)(q·o) − ½I(n−1)(q·o)², per context.",
    ),
    Claim(
        id="more-draws-weigh-negatives-less",
        group=GROUP,
        source=f"{SUMMARY_2025}, Design trade-offs (n in RG̃)",
        statement="A larger number of draws n downweights the negatives.",
        method="Curvature of the enumerated loss at a negative over that at the positive, and the exact formula to "
        "1,000 draws.",
        experiment=weight_of_negatives,
        judge=judge_negatives,
        change={"of": "one draw"},
        change_in_words="the weight of a single draw, which does fall with their number",
        correction="The reverse: more draws weigh negatives more, up to RG² itself; few draws emphasise positives.",
        figure=Figure("draws", ("weight of a negative over a positive",), "Weight of negatives", log_x=True),
    ),
)
