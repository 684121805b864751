"""What the printed algorithms and the released code do, step by step."""

from __future__ import annotations

import numpy as np

from research.claims.claim import Claim, Judgement, Numbers, decide
from research.claims.dense import Floats, binary_matrix, interactions_of, relative, targets
from research.papers import PU_2024, PU_2025
from taylorank.objectives import RG2Objective, rg_objective
from taylorank.solvers import solve_spectral

GROUP = "Algorithms"
EXACT = 1e-9


def constant_scores(seed: int, *, noise: float = 0.0) -> Numbers:
    """Loss of scores that are equal for all items, but for `noise`, over that of zero scores, with both weights."""
    rng = np.random.default_rng(seed)
    R = binary_matrix(rng, 20, 15)
    counts, N = R.sum(axis=1, keepdims=True), R.shape[1]
    S = targets(R, np.full(N, 1 / N))
    o = N / counts - 1 + noise * rng.standard_normal(R.shape)
    weights = {"printed": counts * R / (2 * N), "all": np.broadcast_to(counts / (2 * N), R.shape)}

    def loss(W: Floats) -> float:
        return float((W * (o - S) ** 2).sum() / (W * S**2).sum())

    return {"printed weights": loss(weights["printed"]), "weights on all pairs": loss(weights["all"])}


def judge_constant(n: Numbers) -> Judgement:
    """A loss that ranks nothing must not be zero."""
    return Judgement(
        decide(n["printed weights"] > EXACT, n["weights on all pairs"] > EXACT),
        f"scores that are the same for all items of a user have {n['printed weights']:.2g} of the loss of zero scores "
        f"under the printed weights, and {n['weights on all pairs']:.2g} with weights on all pairs",
    )


def released_update(seed: int, *, sign: float = -1.0, alpha: float = 0.3, beta: float = 0.1) -> Numbers:
    """Gradient in Q of the loss that the released code states, where its update puts Q; and with `sign`."""
    rng = np.random.default_rng(seed)
    R = binary_matrix(rng, 14, 11)
    M, N = R.shape
    counts, P, penalty = R.sum(axis=1), rng.standard_normal((M, 3)), 0.2
    ridge = penalty * (counts.sum() / (2 * N) + alpha * M)

    def updated(of_background: float) -> Floats:
        rows = []
        for y in range(N):
            A = (1 - beta) * (P.T * counts) @ P / (2 * N) + alpha * (P.T * R[:, y]) @ P + ridge * np.eye(3)
            b = (0.5 + alpha) * R[:, y] @ P + of_background * counts @ P / (2 * N)
            rows.append(np.linalg.solve(A, b))
        return np.array(rows)

    def gradient(Q: Floats) -> float:
        o = P @ Q.T
        of_scores = counts[:, None] / (2 * N) * (2 * (1 - beta) * o + 2) + R * (2 * alpha * o - (1 + 2 * alpha))
        return float(np.linalg.norm(of_scores.T @ P + 2 * ridge * Q) / np.linalg.norm(of_scores.T @ P))

    Q = updated(-1.0)
    misfit = P @ Q.T - targets(R, np.full(N, 1 / N))
    return {
        "gradient as released": gradient(updated(1.0)),
        "gradient corrected": gradient(updated(sign)),
        "gradient of RG² there": _under_best_ridge((counts[:, None] * misfit / N).T @ P, Q),
        "gradient of RG× there": _under_best_ridge(
            (counts[:, None] * (misfit - (P @ Q.T).mean(axis=1, keepdims=True)) / N).T @ P, Q
        ),
    }


def _under_best_ridge(of_data: Floats, Q: Floats) -> float:
    """Return the least ‖∇ + λQ‖ / ‖∇‖ over λ ≥ 0: zero if Q minimises the loss under some ridge."""
    ridge = max(0.0, -float((of_data * Q).sum() / (Q**2).sum()))
    return float(np.linalg.norm(of_data + ridge * Q) / np.linalg.norm(of_data))


def judge_released(n: Numbers) -> Judgement:
    """The update should put Q where the gradient vanishes."""
    return Judgement(
        decide(n["gradient as released"] < EXACT, n["gradient corrected"] < EXACT),
        f"where the released update puts Q, the gradient of its loss is {n['gradient as released']:.2g} of that of the "
        f"data term; with the sign of the background term reversed it is {n['gradient corrected']:.0e}. With α and "
        "β the loss is none of the papers': there, under the ridge that suits best, the gradient of RG² is "
        f"{n['gradient of RG² there']:.2g} of that of its data term and that of RG× {n['gradient of RG× there']:.2g}",
    )


def product_penalty(seed: int, *, weight_power: float = 0.5, penalty: float = 6.0, rank: int = 3) -> Numbers:
    """The updates of App. A.6 run to the end against the truncated SVD of diag(w/√(w+λ)) S."""
    rng = np.random.default_rng(seed)
    R = binary_matrix(rng, 24, 18)
    w, S = R.sum(axis=1), targets(R, np.full(18, 1 / 18))
    Q = rng.standard_normal((18, rank))
    for _ in range(4000):
        P = (w / (w + penalty))[:, None] * S @ Q @ np.linalg.inv(Q.T @ Q)
        Q = (S.T * w) @ P @ np.linalg.inv(penalty * P.T @ P + (P.T * w) @ P)
    scale = w / (w + penalty) ** weight_power
    U, values, V = np.linalg.svd(scale[:, None] * S, full_matrices=False)
    best = ((U[:, :rank] * values[:rank]) @ V[:rank]) / np.sqrt(w + penalty)[:, None]
    return {"difference to the SVD": relative(P @ Q.T, best), "sweeps": 4000}


def judge_product(n: Numbers) -> Judgement:
    """ALS and SVD agree."""
    return Judgement(
        decide(n["difference to the SVD"] < 1e-6),
        f"after {n['sweeps']} sweeps the scores differ from the truncated SVD of diag(w/√(w+λ))·S by "
        f"{n['difference to the SVD']:.0e} of their size",
    )


def shared_matrix(seed: int, *, penalty_power: float = 1.0) -> Numbers:
    """One K × K matrix for all rows of P against a system for every row, with penalties λ c_x^power."""
    rng = np.random.default_rng(seed)
    R = binary_matrix(rng, 30, 20)
    c, N = R.sum(axis=1), R.shape[1]
    Q, S, ridge = rng.standard_normal((N, 4)), targets(R, np.full(N, 1 / N)), 0.2
    shared = S @ Q / N @ np.linalg.inv(Q.T @ Q / N + ridge * np.eye(4))
    by_row = np.stack(
        [
            c[x] * S[x] @ Q / N @ np.linalg.inv(c[x] * Q.T @ Q / N + ridge * c[x] ** penalty_power * np.eye(4))
            for x in range(len(R))
        ]
    )
    objective = rg_objective(
        RG2Objective, interactions_of(R), proposal_exponent=0.0, context_exponent=1.0, dtype=np.float64
    )
    values = solve_spectral(objective, 4, tolerance=0).svd.values
    return {"difference": relative(shared, by_row), "singular values": values}


def judge_shared(n: Numbers) -> Judgement:
    """No system per row is needed."""
    return Judgement(
        decide(n["difference"] < EXACT),
        f"one matrix for all users gives the row-by-row solution up to {n['difference']:.0e}",
    )


def plain_penalty(seed: int, *, weights: str = "context", penalty: float = 0.7) -> Numbers:
    """All rows of P for the penalty λ‖P‖² by one eigendecomposition of QᵀQ, against a system for every row."""
    rng = np.random.default_rng(seed)
    R = binary_matrix(rng, 25, 16)
    S, Q = targets(R, np.full(16, 1 / 16)), rng.standard_normal((16, 4))
    w = R.sum(axis=1)
    W = np.repeat(w[:, None], 16, axis=1) if weights == "context" else w[:, None] * (1 + R)
    by_row = np.stack([(S[x] * W[x]) @ Q @ np.linalg.inv((Q.T * W[x]) @ Q + penalty * np.eye(4)) for x in range(25)])
    values, U = np.linalg.eigh(Q.T @ Q)
    at_once = (w[:, None] * (S @ Q @ U)) / (w[:, None] * values + penalty) @ U.T
    return {"difference": relative(at_once, by_row)}


def judge_plain(n: Numbers) -> Judgement:
    """No closed form over whole matrices: then this one would not be right."""
    return Judgement(
        decide(n["difference"] > 1e-6),
        "one eigendecomposition QᵀQ = UΛUᵀ gives all rows at once, P = [w (SQU) / (wΛ + λ)] Uᵀ, up to "
        f"{n['difference']:.0e}",
    )


CLAIMS = (
    Claim(
        id="algorithm-1-weights-in-2024",
        group=GROUP,
        source=f"{PU_2024}, Algorithm 1, line 6",
        statement="The weights of the algorithm are W = Diag(|I_u|) R / 2N.",
        method="The loss of scores that are the same for all items, under these weights and with weights on all pairs.",
        experiment=constant_scores,
        judge=judge_constant,
        change={"noise": 1.0},
        change_in_words="scores that differ among the items of a user",
        correction="W_xy = |I_x|/2N for all pairs (Eq. 23). As printed, pairs that were not observed weigh nothing, "
        "and ranking nothing at all is optimal.",
    ),
    Claim(
        id="released-item-update",
        group=GROUP,
        source="the RG papers' released code (its parameters α and β)",
        statement="The update of the item factors in the released code minimises its loss.",
        method="The update written out (14 × 11, rank 3, α = 0.3, β = 0.1); the gradient of the penalised loss at its "
        "result, and those of RG² and RG× with the ridge that makes them least.",
        experiment=released_update,
        judge=judge_released,
        change={"sign": 1.0},
        change_in_words="the released sign in place of the corrected one",
        correction="The term Σ_x |I_x| P_x / 2N is subtracted, not added. The terms of α and β are in neither paper's "
        "loss.",
    ),
    Claim(
        id="product-penalty-closed-form",
        group=GROUP,
        source=f"{PU_2025}, App. A.6 (Eq. 48)",
        statement="With the penalty λ‖PQᵀ‖² both updates of ALS are closed forms over whole matrices.",
        method="The printed updates run to convergence (24 × 18, rank 3) against one truncated SVD.",
        experiment=product_penalty,
        judge=judge_product,
        change={"weight_power": 0.0},
        change_in_words="an SVD that leaves the penalty out of the weights",
        correction="They are, and no sweeps are needed: the result is the hard-truncated SVD of diag(w/√(w+λ))·S, "
        "which for ranking only changes the weight of the contexts.",
    ),
    Claim(
        id="plain-penalty-has-no-closed-form",
        group=GROUP,
        source=f"{PU_2025}, App. A.6 (Eq. 47)",
        statement="With the plain penalty λ(‖P‖² + ‖Q‖²) the update of P is a Sylvester equation, so that there is no "
        "closed form over whole matrices.",
        method="All rows of P by one eigendecomposition of the Gram matrix against a system for every row.",
        experiment=plain_penalty,
        judge=judge_plain,
        change={"weights": "cell"},
        change_in_words="weights that vary by cell, for which it is true",
        correction="The weights are diagonal, so the equation falls apart into rows that share the eigenvectors of "
        "QᵀQ. Its right side is WSQ, where WRQ is printed.",
    ),
    Claim(
        id="one-matrix-for-all-rows",
        group=GROUP,
        source=f"{PU_2025}, Sec. 4.4.1, end (and A.6)",
        statement="Since the weights of RG² depend on the context alone, ALS needs matrix operations only, no update "
        "row by row.",
        method="All rows of P by one K × K matrix against a linear system for every row.",
        experiment=shared_matrix,
        judge=judge_shared,
        change={"penalty_power": 0.0},
        change_in_words="the plain penalty of Eq. 31, which ties every row to a matrix of its own",
    ),
)
