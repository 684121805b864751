"""The formulas of the Gauss-Newton appendix, each against the loss itself."""

from __future__ import annotations

import numpy as np

from research.claims.claim import Claim, Judgement, Numbers, decide
from research.claims.dense import Floats, binary_matrix, relative
from research.papers import PU_2024

GROUP = "Algorithms"
EXACT = 1e-6
OTHER_LOSS = "a loss whose squares weigh twice at the observed pairs, for which no Gram matrix can stand"


def parts(seed: int, *, rank: int = 3, users: int = 9, items: int = 7) -> tuple[Floats, Floats, Floats, Floats]:
    """Return R, |I_u|, P and Q."""
    rng = np.random.default_rng(seed)
    R = binary_matrix(rng, users, items)
    return R, R.sum(axis=1), rng.standard_normal((users, rank)), rng.standard_normal((items, rank))


def loss(R: Floats, P: Floats, Q: Floats, observed_weight: float) -> float:
    """Return −Σ_D o + Σ_u (|I_u|/2N) Σ_i (o + 1)²; `observed_weight` weighs the squares at the observed pairs."""
    o = P @ Q.T
    squares = np.where(R > 0, observed_weight, 1.0) * (o + 1) ** 2
    return float(-(R * o).sum() + (R.sum(axis=1) @ squares).sum() / (2 * R.shape[1]))


def slopes(R: Floats, P: Floats, Q: Floats, observed_weight: float) -> tuple[Floats, Floats]:
    """Return the gradients of the loss by central differences."""
    found = []
    for side in (P, Q):
        G = np.empty_like(side)
        for place in np.ndindex(*side.shape):
            kept = side[place]
            values = []
            for step in (1e-5, -1e-5):
                side[place] = kept + step
                values.append(loss(R, P, Q, observed_weight))
            side[place] = kept
            G[place] = (values[0] - values[1]) / 2e-5
        found.append(G)
    return found[0], found[1]


def gradients(seed: int, *, observed_weight: float = 1.0) -> Numbers:
    """Printed and corrected gradients with respect to the embeddings against central differences."""
    R, counts, P, Q = parts(seed)
    N, rank = R.shape[1], P.shape[1]
    tilde = np.full(rank, -1 / np.sqrt(rank))
    wanted = np.vstack(slopes(R, P, Q, observed_weight))
    Pt, Qt, A = np.broadcast_to(tilde, P.shape), np.broadcast_to(tilde, Q.shape), counts[:, None]
    Qc, Qc_hat, Pc, Pc_hat = Q.T @ Q, Qt.T @ Q, (P * A).T @ P, (Pt * A).T @ P
    printed = -np.vstack((R @ Q + (A * P @ Qc - A * Pt @ Qc_hat) / (2 * N), R.T @ P + (Q @ Pc - Qt @ Pc_hat) / (2 * N)))
    exact = np.vstack(
        (
            -R @ Q + A * (P @ Qc + np.broadcast_to(Q.sum(axis=0), P.shape)) / N,
            -R.T @ P + (Q @ Pc + np.broadcast_to(counts @ P, Q.shape)) / N,
        )
    )
    return {
        "product of the tilde vectors": float(tilde @ tilde),
        "error as printed": relative(printed, wanted),
        "error corrected": relative(exact, wanted),
    }


def judge_gradients(n: Numbers) -> Judgement:
    """Against central differences."""
    return Judgement(
        decide(n["error as printed"] < EXACT, n["error corrected"] < EXACT),
        f"two vectors with all elements −1/√K have the inner product {n['product of the tilde vectors']:+.0f}, not −1; "
        f"the printed gradient misses central differences by {n['error as printed']:.0%}, the corrected one by "
        f"{n['error corrected']:.0e}",
    )


def background(seed: int, *, observed_weight: float = 1.0) -> Numbers:
    """The Frobenius form of Σ |I_u| (o − õ)² with Q̂ = Q̃ᵀP, as printed, and with Q̃ᵀQ; as many users as items."""
    R, counts, P, Q = parts(seed, users=7)
    rng = np.random.default_rng(seed + 1)
    Pt, Qt = rng.standard_normal(P.shape), rng.standard_normal(Q.shape)
    weights = counts[:, None] * np.where(R > 0, observed_weight, 1.0)
    wanted = float((weights * (P @ Q.T - Pt @ Qt.T) ** 2).sum())

    def form(Q_hat: Floats) -> float:
        A = counts[:, None]
        ends = np.vdot((Pt * A).T @ Pt, Qt.T @ Qt) + np.vdot((P * A).T @ P, Q.T @ Q)
        return float(ends - 2 * np.vdot((Pt * A).T @ P, Q_hat))

    return {
        "error as printed": abs(form(Qt.T @ P) - wanted) / wanted,
        "error corrected": abs(form(Qt.T @ Q) - wanted) / wanted,
    }


def gauss_newton(seed: int, *, observed_weight: float = 1.0) -> Numbers:
    """Gauss-Newton products against Jᵀ diag(w) J v with the Jacobian written out.

    P_cH and Q_cW are products of (K, K) with (N, K) and (M, K): they exist only where M = N = K, so that is the size at
    which the printed form is tested as it stands. The reading PH_c, QW_c with H_c = HᵀQ and W_c = WᵀAP fits any size.
    `observed_weight` weighs the background at the observed pairs.
    """
    size = 6
    R, counts, P, Q = parts(seed, rank=size, users=size, items=size)
    rng = np.random.default_rng(seed + 2)
    W, H = rng.standard_normal(P.shape), rng.standard_normal(Q.shape)
    A, weights = counts[:, None], counts[:, None] * np.where(R > 0, observed_weight, 1.0)
    moved = weights * (W @ Q.T + P @ H.T)  # diag(w) J v, (M, N)
    wanted = np.vstack((moved @ Q, moved.T @ P)) / size
    Qc, Pc, Hc, Wc = Q.T @ Q, (P * A).T @ P, H.T @ Q, (W * A).T @ P
    return {
        "error as printed": relative(-np.vstack((A * (W @ Qc + Pc @ H), H @ Pc - Qc @ W)) / (2 * size), wanted),
        "error as read": relative(-np.vstack((A * (W @ Qc + P @ Hc), H @ Pc - Q @ Wc)) / (2 * size), wanted),
        "error corrected": relative(np.vstack((A * (W @ Qc + P @ Hc), H @ Pc + Q @ Wc)) / size, wanted),
    }


def judge_product(n: Numbers) -> Judgement:
    """As printed, or as it may have been meant; corrected in sign, factor and matrices."""
    return Judgement(
        decide(min(n["error as printed"], n["error as read"]) < EXACT, n["error corrected"] < EXACT),
        f"P_cH and Q_cW can be multiplied only where M = N = K; there the printed form misses the product by "
        f"{n['error as printed']:.0%}, read with PHᵀQ and QWᵀAP for them by {n['error as read']:.0%}, and the "
        f"corrected one by {n['error corrected']:.0e}",
    )


def _judge(n: Numbers) -> Judgement:
    return Judgement(
        decide(n["error as printed"] < EXACT, n["error corrected"] < EXACT),
        f"the printed form misses the value by {n['error as printed']:.0%}, the corrected one by "
        f"{n['error corrected']:.0e}",
    )


CLAIMS = (
    Claim(
        id="newton-gradient",
        group=GROUP,
        source=f"{PU_2024}, App. D",
        statement="With fixed vectors whose elements are all −1/√K the shift in (o + 1)² becomes an inner product, and "
        "the gradient is −(RQ + (APQ_c − AP̃Q̂_c)/2N) and its mirror image.",
        method="The printed and the corrected gradient against central differences of the loss (9 × 7, rank 3).",
        experiment=gradients,
        judge=judge_gradients,
        change={"observed_weight": 2.0},
        change_in_words=OTHER_LOSS,
        correction="One of the two fixed vectors must be +1/√K; the data term and the background have opposite signs "
        "and the factor is 1/N: −RQ + A(PQᵀQ + 1(1ᵀQ))/N and its mirror image.",
    ),
    Claim(
        id="newton-background",
        group=GROUP,
        source=f"{PU_2024}, App. D, definition of Q̂_c",
        statement="The background term is a sum of Frobenius products with Q̂_c = Q̃ᵀP.",
        method="The sum over all pairs against the Frobenius form, with seven users and seven items: Q̃ᵀP exists only "
        "where there are as many of both.",
        experiment=background,
        judge=_judge,
        change={"observed_weight": 2.0},
        change_in_words=OTHER_LOSS,
        correction="Q̂_c = Q̃ᵀQ.",
    ),
    Claim(
        id="newton-product",
        group=GROUP,
        source=f"{PU_2024}, App. D, Gauss-Newton product",
        statement="But for 1/|D|, the encoders' Jacobians and the penalty, the Gauss-Newton product is −(AWQ_c + "
        "AP_cH)/2N for users and −(HP_c − Q_cW)/2N for items.",
        method="Against the product with the Jacobian of all scores written out, at M = N = K = 6, where all that is "
        "printed can be multiplied; and with PH_c, QW_c for P_cH, Q_cW (H_c = HᵀQ, W_c = WᵀAP), which fits any size.",
        experiment=gauss_newton,
        judge=judge_product,
        change={"observed_weight": 2.0},
        change_in_words=OTHER_LOSS,
        correction="A(WQᵀQ + P(HᵀQ))/N for users and (Q(WᵀAP) + H(PᵀAP))/N for items: positive semidefinite.",
    ),
)
