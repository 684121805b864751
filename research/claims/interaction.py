"""RG×: its interaction term in matrix factorisation, and what it adds to RG²."""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize

from research.claims.claim import Claim, Judgement, Numbers, decide
from research.claims.dense import Floats, binary_matrix, interactions_of, log_sum_exp, relative, targets
from research.papers import PU_2024, PU_2025, SUMMARY_2025
from taylorank.objectives import RG2Objective, rg_objective
from taylorank.solvers import solve_spectral

GROUP = "RG×"
EXACT = 1e-9


def interaction_term(seed: int, *, n_items: int = 30, rank: int = 4) -> Numbers:
    """P_x QᵀQ P_xᵀ, as printed, and (P_x · Qᵀ1)² against (1·o_x)²; the printed update against a scaled Gram."""
    rng = np.random.default_rng(seed)
    P, Q = rng.standard_normal((8, rank)), rng.standard_normal((n_items, rank))
    wanted = (P @ Q.T).sum(axis=1) ** 2
    printed = np.einsum("xk,kl,xl->x", P, Q.T @ Q, P)
    S, ridge = rng.standard_normal((8, n_items)), 0.3 * np.eye(rank)
    update_38 = S @ Q @ np.linalg.inv(Q.T @ Q - Q.T @ Q / n_items + ridge)
    scaled_rg2 = S @ Q @ np.linalg.inv((1 - 1 / n_items) * Q.T @ Q + ridge)
    return {
        "error as printed": relative(printed, wanted),
        "error corrected": relative((P @ Q.sum(axis=0)) ** 2, wanted),
        "printed update against RG² with its Gram matrix times 1 − 1/N": relative(update_38, scaled_rg2),
    }


def judge_term(n: Numbers) -> Judgement:
    """Printed: ‖o‖². Corrected: (1·o)²."""
    return Judgement(
        decide(n["error as printed"] < EXACT, n["error corrected"] < EXACT),
        f"P_x QᵀQ P_xᵀ is ‖o_x‖² and misses (1·o_x)² by {n['error as printed']:.0%}; (P_x · Qᵀ1)² misses it by "
        f"{n['error corrected']:.0e}. The printed update is that of RG² with its Gram matrix times 1 − 1/N (difference "
        f"{n['printed update against RG² with its Gram matrix times 1 − 1/N']:.0e})",
    )


def stationarity(seed: int, *, weight: str = "count", penalty: float = 0.4) -> Numbers:
    """Gradient in P of both regularised losses where Eq. 36 puts P."""
    rng = np.random.default_rng(seed)
    R = binary_matrix(rng, 10, 12)
    M, N = R.shape
    Q, S = rng.standard_normal((N, 3)), targets(R, np.full(N, 1 / N))
    w = R.sum(axis=1) if weight == "count" else np.full(M, 1 / N)
    W = np.repeat(w[:, None], N, axis=1)
    totals = W.sum(axis=1)
    P = np.stack(
        [S[x] * W[x] @ Q @ np.linalg.inv((Q.T * W[x]) @ Q + penalty * totals[x] * np.eye(3)) for x in range(M)]
    )
    fit = 2 * (W * (P @ Q.T - S)) @ Q
    size = float(np.linalg.norm(fit))
    return {
        "gradient of Eq. 31": float(np.linalg.norm(fit + 2 * penalty * P)) / size,
        "gradient of the weighted penalty": float(np.linalg.norm(fit + 2 * penalty * totals[:, None] * P)) / size,
    }


def judge_stationarity(n: Numbers) -> Judgement:
    """Printed: plain penalty. Corrected: rows weighted."""
    return Judgement(
        decide(n["gradient of Eq. 31"] < EXACT, n["gradient of the weighted penalty"] < EXACT),
        f"where Eq. 36 puts P, the gradient of the loss of Eq. 31 is {n['gradient of Eq. 31']:.2g} of that of its data "
        f"term, so it is no minimum; with the penalty λ Σ_x (Σ_y W_xy) ‖P_x‖² it is "
        f"{n['gradient of the weighted penalty']:.0e}",
    )


def same_solution(seed: int, *, penalty_of_items: str = "weighted", rank: int = 3) -> Numbers:
    """Minimise RG× by a general method from a random start; compare with RG² solved the same way and by SVD."""
    rng = np.random.default_rng(seed)
    R = binary_matrix(rng, 22, 16)
    c = R.sum(axis=1)
    q = R.sum(axis=0) / R.sum()
    ridge = 0.15
    on_items = q * c.sum() if penalty_of_items == "weighted" else np.full(len(q), c.sum() / len(q))
    start = 0.3 * rng.standard_normal((sum(R.shape), rank))
    found = [_minimised(start, R, q, c, ridge * c, ridge * on_items, interaction=flag) for flag in (0.0, 1.0)]
    numbers = {
        "difference of the scores": relative(found[1], found[0]),
        "largest mean score of a context": float(np.abs(found[1] @ q).max()),
    }
    if penalty_of_items == "weighted":
        objective = rg_objective(
            RG2Objective, interactions_of(R), proposal_exponent=1.0, context_exponent=1.0, dtype=np.float64
        )
        path = solve_spectral(objective, rank, tolerance=0)
        P, Q = path.factors(rank, ridge * np.sqrt(c.sum()) / path.largest)
        numbers["difference to the SVD"] = relative(found[1], P @ Q.T)
    return numbers


def _minimised(
    start: Floats, R: Floats, q: Floats, c: Floats, on_users: Floats, on_items: Floats, *, interaction: float
) -> Floats:
    """Return P Qᵀ of least RG² (interaction 0) or RG× (1) loss from `start`, by L-BFGS with all pairs written out."""
    S, (M, _) = targets(R, q), R.shape

    def loss(flat: Floats) -> tuple[float, Floats]:
        P, Q = flat.reshape(start.shape)[:M], flat.reshape(start.shape)[M:]
        E = P @ Q.T - S
        mean = (P @ Q.T) @ q
        value = 0.5 * (c @ (E**2 @ q) - interaction * c @ mean**2)
        value += 0.5 * (on_users @ (P**2).sum(1) + on_items @ (Q**2).sum(1))
        G = c[:, None] * (E * q - interaction * np.outer(mean, q))  # of the scores
        grads = np.vstack((G @ Q + on_users[:, None] * P, G.T @ P + on_items[:, None] * Q))
        return float(value), grads.ravel()

    options = {"maxiter": 5000, "maxfun": 10000, "ftol": 1e-15, "gtol": 1e-9, "maxcor": 30}
    flat = minimize(loss, start.ravel(), jac=True, method="L-BFGS-B", options=options).x.reshape(start.shape)
    scores: Floats = flat[:M] @ flat[M:].T
    return scores


def judge_same(n: Numbers) -> Judgement:
    """RG× gains something in matrix factorisation only if its solution is another one."""
    return Judgement(
        decide(n["difference of the scores"] > 1e-3),
        f"minimised by a general method from one random start, the scores of RG× and RG² differ by "
        f"{n['difference of the scores']:.0e} of their size, and no context's mean score exceeds "
        f"{n['largest mean score of a context']:.0e}: the interaction term vanishes at the optimum",
    )


def tightness(seed: int, *, centred: bool = False, n_items: int = 25, vectors: int = 2000) -> Numbers:
    """Mean distance of RG× and of RG² from softmax loss at random scores of several sizes."""
    rng = np.random.default_rng(seed)
    errors: Numbers = {"size": [0.1, 0.5, 1.0, 2.0, 4.0], "RG²": [], "RG×": []}
    for size in errors["size"]:
        o = size * (rng.standard_normal((vectors, n_items)) + rng.standard_normal((vectors, 1)))
        if centred:
            o -= o.mean(axis=1, keepdims=True)
        exact = log_sum_exp(o)
        rg2 = np.log(n_items) + o.mean(axis=1) + 0.5 * (o**2).mean(axis=1)
        errors["RG²"].append(float(np.abs(rg2 - exact).mean()))
        errors["RG×"].append(float(np.abs(rg2 - 0.5 * o.mean(axis=1) ** 2 - exact).mean()))
    return errors


def judge_tightness(n: Numbers) -> Judgement:
    """Nearer at every size, by more than rounding."""
    ratios = [rgx / rg2 for rgx, rg2 in zip(n["RG×"], n["RG²"], strict=True)]
    return Judgement(
        decide(max(ratios) < 0.95),
        f"the mean error of RG× is {ratios[0]:.2f} of that of RG² for scores of size 0.1, {ratios[2]:.2f} at size 1 "
        f"and {ratios[-1]:.2f} at size 4",
    )


CLAIMS = (
    Claim(
        id="rgx-term-in-factorisation",
        group=GROUP,
        source=f"{PU_2025}, Eq. 31, 38, 39",
        statement="In matrix factorisation the interaction term of RG× is V_x P_x QᵀQ P_xᵀ.",
        method="Random factors (8 users, 30 items, rank 4): the printed term, the corrected one and (1·o_x)².",
        experiment=interaction_term,
        judge=judge_term,
        change={"n_items": 1},
        change_in_words="a single item, where ‖o‖² and (1·o)² are the same",
        correction="The term is V_x (P_x · Qᵀ1)²; what is printed merely rescales the Gram matrix of RG².",
    ),
    Claim(
        id="regularisers-of-loss-and-update",
        group=GROUP,
        source=f"{PU_2025}, Eq. 31 against Eq. 36-37; {PU_2024}, Eq. 22 against Eq. 33-34",
        statement="The updates minimise the loss with the penalty λ(‖P‖² + ‖Q‖²).",
        method="The gradient of the loss where the printed update puts P, for that penalty and for one that weighs "
        "every row by its total weight.",
        experiment=stationarity,
        judge=judge_stationarity,
        change={"weight": "one"},
        change_in_words="weights that sum to one in every row, where the two penalties agree",
        correction="The updates belong to λ Σ_x (Σ_y W_xy)‖P_x‖² + λ Σ_y (Σ_x W_xy)‖Q_y‖².",
    ),
    Claim(
        id="rgx-better-than-rg2-in-factorisation",
        group=GROUP,
        source=f"{PU_2025}, Table 3 and Sec. 4.1; {SUMMARY_2025}, Design trade-offs",
        statement="In matrix factorisation RG× gives another, better model than RG².",
        method="Both losses minimised by L-BFGS over all pairs (22 × 16, rank 3), and RG² by one SVD.",
        experiment=same_solution,
        judge=judge_same,
        change={"penalty_of_items": "plain"},
        change_in_words="a penalty on the items that does not follow their weight, which makes the two differ",
        correction="Both have the same solution, because the targets are centred. They differ for other encoders, "
        "penalties or weights by cell, or before the optimum; differences in the tables are noise of tuning.",
    ),
    Claim(
        id="rgx-closer-to-softmax",
        group=GROUP,
        source=f"{PU_2025}, Sec. 4.1, after Eq. 17; {SUMMARY_2025}, Design trade-offs",
        statement="RG× approximates softmax loss more tightly than RG².",
        method="2,000 random score vectors of 25 items at five sizes, with a random mean; the mean error of both.",
        experiment=tightness,
        judge=judge_tightness,
        change={"centred": True},
        change_in_words="scores of mean zero, where the two losses are equal",
        correction="Only where the scores of a context have a mean: at the optimum of matrix factorisation they have "
        "none, and the two are one (rgx-better-than-rg2-in-factorisation).",
    ),
)
