"""The formulas of the Gauss-Newton appendix, each against the loss itself."""

from __future__ import annotations

import numpy as np

from research.claims.claim import Claim, Judgement, Numbers, decide
from research.claims.dense import Floats, binary_matrix, relative
from research.papers import PU_2024

GROUP = "Algorithms"
EXACT = 1e-6


def parts(seed: int, rank: int = 3) -> tuple[Floats, Floats, Floats, Floats]:
    """Return R, |I_u|, P and Q."""
    rng = np.random.default_rng(seed)
    R = binary_matrix(rng, 9, 7)
    return R, R.sum(axis=1), rng.standard_normal((9, rank)), rng.standard_normal((7, rank))


def loss(R: Floats, P: Floats, Q: Floats) -> float:
    """Return −Σ_D o + Σ_u (|I_u|/2N) Σ_i (o + 1)²."""
    o = P @ Q.T
    return float(-(R * o).sum() + (R.sum(axis=1) @ (o + 1) ** 2).sum() / (2 * R.shape[1]))


def slopes(R: Floats, P: Floats, Q: Floats) -> tuple[Floats, Floats]:
    """Return the gradients of the loss by central differences."""
    found = []
    for side in (P, Q):
        G = np.empty_like(side)
        for place in np.ndindex(*side.shape):
            kept = side[place]
            values = []
            for step in (1e-5, -1e-5):
                side[place] = kept + step
                values.append(loss(R, P, Q))
            side[place] = kept
            G[place] = (values[0] - values[1]) / 2e-5
        found.append(G)
    return found[0], found[1]


def gradients(seed: int, *, corrected: str = "exact") -> Numbers:
    """Printed and corrected gradients with respect to the embeddings against central differences."""
    R, counts, P, Q = parts(seed)
    N, rank = R.shape[1], P.shape[1]
    tilde = np.full(rank, -1 / np.sqrt(rank))
    wanted = np.vstack(slopes(R, P, Q))
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
        "error corrected": relative(exact if corrected == "exact" else printed, wanted),
    }


def judge_gradients(n: Numbers) -> Judgement:
    """Against central differences."""
    return Judgement(
        decide(n["error as printed"] < EXACT, n["error corrected"] < EXACT),
        f"two vectors with all elements −1/√K have the inner product {n['product of the tilde vectors']:+.0f}, not −1; "
        f"the printed gradient misses central differences by {n['error as printed']:.0%}, the corrected one by "
        f"{n['error corrected']:.0e}",
    )


def background(seed: int, *, corrected: str = "QtQ") -> Numbers:
    """The Frobenius form of Σ |I_u| (o − õ)² with Q̂ = Q̃ᵀP, as printed, and with Q̃ᵀQ."""
    _, counts, P, Q = parts(seed)
    rng = np.random.default_rng(seed + 1)
    Pt, Qt = rng.standard_normal(P.shape), rng.standard_normal(Q.shape)
    wanted = float(counts @ ((P @ Q.T - Pt @ Qt.T) ** 2).sum(axis=1))

    def form(Q_hat: Floats) -> float:
        A = counts[:, None]
        ends = np.vdot((Pt * A).T @ Pt, Qt.T @ Qt) + np.vdot((P * A).T @ P, Q.T @ Q)
        return float(ends - 2 * np.vdot((Pt * A).T @ P, Q_hat))

    printed = form(Qt.T @ P[: len(Qt)])  # the shapes do not even match; the first rows stand for it
    return {
        "error as printed": abs(printed - wanted) / wanted,
        "error corrected": abs((form(Qt.T @ Q) if corrected == "QtQ" else printed) - wanted) / wanted,
    }


def gauss_newton(seed: int, *, corrected: str = "exact") -> Numbers:
    """Printed and corrected Gauss-Newton products against J ᵀ diag(w) J v with the Jacobian written out."""
    R, counts, P, Q = parts(seed)
    rng = np.random.default_rng(seed + 2)
    W, H = rng.standard_normal(P.shape), rng.standard_normal(Q.shape)
    N, A = R.shape[1], counts[:, None]
    moved = W @ Q.T + P @ H.T  # J v, (M, N)
    wanted = np.vstack((A * moved @ Q / N, (A * moved).T @ P / N))
    Qc, Pc = Q.T @ Q, (P * A).T @ P
    printed = -np.vstack((A * (W @ Qc) + A * P @ (H.T @ H), H @ Pc - Q @ (W.T @ W))) / (2 * N)  # P_cH, Q_cW do not fit
    exact = np.vstack((A * (W @ Qc + P @ (H.T @ Q)), Q @ ((W * A).T @ P) + H @ Pc)) / N
    return {
        "error as printed": relative(printed, wanted),
        "error corrected": relative(exact if corrected == "exact" else printed, wanted),
    }


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
        change={"corrected": "printed"},
        change_in_words="the printed gradient in place of the corrected one",
        correction="One of the two fixed vectors must be +1/√K; the data term and the background have opposite signs "
        "and the factor is 1/N: −RQ + A(PQᵀQ + 1(1ᵀQ))/N and its mirror image.",
    ),
    Claim(
        id="newton-background",
        group=GROUP,
        source=f"{PU_2024}, App. D, definition of Q̂_c",
        statement="The background term is a sum of Frobenius products with Q̂_c = Q̃ᵀP.",
        method="The sum over all pairs against the Frobenius form; the printed Q̂_c multiplies matrices that do not "
        "fit, so its first rows stand for it.",
        experiment=background,
        judge=_judge,
        change={"corrected": "printed"},
        change_in_words="Q̃ᵀP in place of Q̃ᵀQ",
        correction="Q̂_c = Q̃ᵀQ.",
    ),
    Claim(
        id="newton-product",
        group=GROUP,
        source=f"{PU_2024}, App. D, Gauss-Newton product",
        statement="The Gauss-Newton product is −(AWQ_c + AP_cH)/2N for users and −(HP_c − Q_cW)/2N for items.",
        method="Against the product with the Jacobian of all scores written out; where printed matrices do not fit, "
        "the nearest that do stand for them.",
        experiment=gauss_newton,
        judge=_judge,
        change={"corrected": "printed"},
        change_in_words="the printed product in place of the corrected one",
        correction="A(WQᵀQ + P(HᵀQ))/N for users and (Q(WᵀAP) + H(PᵀAP))/N for items: positive semidefinite.",
    ),
)
