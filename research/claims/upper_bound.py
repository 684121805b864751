"""Does RG² lie above softmax loss?"""

from __future__ import annotations

import numpy as np

from research.claims.claim import Claim, Figure, Judgement, Numbers, decide
from research.claims.dense import Floats, log_sum_exp, softmax
from research.papers import PU_2024, PU_2025

GROUP = "Bounds and generalisation"


def majoriser(kind: str, n: int) -> Floats:
    """Return the matrix that is to lie above the Hessian of softmax loss."""
    if kind == "paper":
        return np.diag(np.full(n, 1 / n))
    valid: Floats = 0.5 * (np.eye(n) - np.full((n, n), 1 / n))
    return valid


def hessian(p: Floats) -> Floats:
    """Return diag(p) − p pᵀ."""
    H: Floats = np.diag(p) - np.outer(p, p)
    return H


def counterexamples(seed: int, *, kind: str = "paper") -> Numbers:
    """Least eigenvalues of majoriser − Hessian, and bound − loss at RG²'s optimum for one positive among N items."""
    rng = np.random.default_rng(seed)
    least = [
        float(np.linalg.eigvalsh(majoriser(kind, 6) - hessian(softmax(scale * rng.standard_normal(6)))).min())
        for scale in (0.3, 1.0, 3.0, 10.0)
        for _ in range(250)
    ]
    pair = np.linalg.eigvalsh(majoriser(kind, 3) - hessian(np.array([0.5, 0.5, 0.0]))).min()
    sizes = [2, 3, 4, 6, 10, 30, 100]
    bounds, losses = zip(*(_at_optimum(n, kind) for n in sizes), strict=True)
    return {
        "least eigenvalue at p = (½, ½, 0)": float(pair),
        "share of random p with a negative eigenvalue": float(np.mean(np.array(least) < -1e-12)),
        "items": sizes,
        "bound": list(bounds),
        "softmax loss": list(losses),
        "least bound − loss": min(b - s for b, s in zip(bounds, losses, strict=True)),
    }


def _at_optimum(n: int, kind: str) -> tuple[float, float]:
    """Return the quadratic bound and softmax loss where RG² has its optimum for a single click: (N − 1, −1, …)."""
    o = np.full(n, -1.0)
    o[0] = n - 1.0
    bound = np.log(n) - o[0] + o.mean() + 0.5 * o @ majoriser(kind, n) @ o
    return float(bound), float(log_sum_exp(o) - o[0])


def judge_bound(n: Numbers) -> Judgement:
    """A bound has no negative eigenvalue and lies above the loss."""
    holds = n["least eigenvalue at p = (½, ½, 0)"] > -1e-9 and n["least bound − loss"] > -1e-9
    return Judgement(
        decide(holds and n["share of random p with a negative eigenvalue"] == 0),
        "the matrix that must be positive semidefinite has the eigenvalue "
        f"{n['least eigenvalue at p = (½, ½, 0)']:.3f} at p = (½, ½, 0) and a negative one for "
        f"{n['share of random p with a negative eigenvalue']:.0%} of random p; "
        f'at RG²\'s own optimum for one click among {n["items"][-1]} items the "bound" is {n["bound"][-1]:.1f} and the '
        f"loss {n['softmax loss'][-1]:.2g}",
    )


def bregman_links(seed: int, *, total: float = 5.0) -> Numbers:
    """D_φ(g(o), η) with the printed link g = ∇φ and with g(o) = o, against the sums of squares of RG² and RG×."""
    rng = np.random.default_rng(seed)
    N = 9
    o, eta = rng.standard_normal((2, N))
    centring = np.eye(N) - np.full((N, N), 1 / N)
    errors = {"printed": 0.0, "identity": 0.0}
    for A in (total * np.eye(N), total * centring):
        wanted = float((eta - o) @ A @ (eta - o))
        for name, s in (("printed", 2 * A @ o), ("identity", o)):
            divergence = eta @ A @ eta - s @ A @ s - 2 * (A @ s) @ (eta - s)
            errors[name] = max(errors[name], abs(float(divergence) - wanted) / wanted)
    return {"error with the printed link": errors["printed"], "error with the identity": errors["identity"]}


def judge_links(n: Numbers) -> Judgement:
    """Printed: g = ∇φ. Corrected: identity."""
    printed, identity = n["error with the printed link"], n["error with the identity"]
    return Judgement(
        decide(printed < 1e-9, identity < 1e-9),
        f"with the printed link functions the divergence misses the loss by {printed:.1f} times its size; with "
        f"g(o) = o by {identity:.0e}",
    )


def lipschitz(seed: int, *, actives: tuple[float, ...] = (0.01, 0.1, 0.5)) -> Numbers:
    """Steepest slope of a pair's loss I (o + 1 − rN/I)² for |o| ≤ C_P C_Q, over the constant of Remark 13."""
    del seed
    over_printed, over_corrected = [], []
    for n_items in (100, 3000, 60_000):
        for bound in (1.0, 10.0):  # C_P C_Q
            for share in actives:
                count = max(1.0, share * n_items)
                o = np.array([-bound, bound])
                slopes = [float(np.abs(2 * count * (o + 1 - r * n_items / count)).max()) for r in (0, 1)]
                printed = 2 * (2 * np.sqrt(n_items) * bound + 1 + n_items)
                corrected = 2 * (count * (bound + 1) + n_items)
                over_printed.append(max(slopes) / printed)
                over_corrected.append(max(slopes) / corrected)
    return {"largest slope over printed": max(over_printed), "largest slope over corrected": max(over_corrected)}


def judge_lipschitz(n: Numbers) -> Judgement:
    """A Lipschitz constant is no smaller than the steepest slope."""
    printed, corrected = n["largest slope over printed"], n["largest slope over corrected"]
    return Judgement(
        decide(printed <= 1, corrected <= 1),
        f"the steepest slope of a pair's loss is up to {printed:.1f} times the printed constant (active contexts), and "
        f"{corrected:.2f} of 2(|I_x|(C_P C_Q + 1) + N)",
    )


CLAIMS = (
    Claim(
        id="rg2-bounds-softmax",
        group=GROUP,
        source=f"{PU_2025}, Prop. 7, App. A.3; {PU_2024}, Prop. B.2",
        statement="With single clicks RG² is an upper bound of softmax loss.",
        method="Eigenvalues of I/N − (diag(p) − ppᵀ) at p = (½, ½, 0) and at random p; the bound and the loss at RG²'s "
        "own optimum for one click among N items.",
        experiment=counterexamples,
        judge=judge_bound,
        change={"kind": "valid"},
        change_in_words="the matrix ½(I − 11ᵀ/N), which does lie above every softmax Hessian",
        correction="A valid quadratic bound takes ½(I − 11ᵀ/N) in place of I/N. RG² needs no bound to rank well.",
        figure=Figure("items", ("bound", "softmax loss"), "One click among N items, at RG²'s optimum", log_x=True),
    ),
    Claim(
        id="bregman-links",
        group="Consistency with DCG",
        source=f"{PU_2025}, Eq. 29-30",
        statement="RG² and RG× are Bregman divergences D_φ(g(o), η) with the links g(o) = 2|I_x| o and "
        "2|I_x|(I − 11ᵀ/N) o.",
        method="The divergences at random scores and targets, with the printed links and without.",
        experiment=bregman_links,
        judge=judge_links,
        change={"total": 0.5},
        change_in_words="|I_x| = ½, where the printed link of RG² is the identity and that of RG× a projection",
        correction="The link is the identity; what is printed as g is ∇φ.",
    ),
    Claim(
        id="lipschitz-constant",
        group=GROUP,
        source=f"{PU_2025}, Remark 13",
        statement="The losses are Lipschitz with a constant little above 2(2√N C_P C_Q + 1 + N).",
        method="The steepest slope of a pair's loss for scores up to C_P C_Q, 100 to 60,000 items, and contexts with 1 "
        "% to half of all items.",
        experiment=lipschitz,
        judge=judge_lipschitz,
        change={"actives": (1e-9,)},
        change_in_words="contexts with a single item",
        correction="The loss carries the weight |I_x|, so the constant does too: 2(|I_x|(C_P C_Q + 1) + N).",
    ),
)
