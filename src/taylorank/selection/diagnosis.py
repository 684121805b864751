"""Does the quadratic loss approximate softmax here, are the systems well-conditioned, and is the penalty right?

For scores o of a user and its positives y, under the proposal q:

    softmax   −o_y + log Σ_j q_j e^o_j          RG×   −o_y + q·o + ½ (q·o² − (q·o)²)          RG²   −o_y + q·o + ½ q·o²

All are 0 at o = 0, so minus the mean over the positives is the gain of the model over zero scores.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taylorank.checks import check_whole
from taylorank.data import Interactions, read_interactions
from taylorank.data.shuffle import check_seed
from taylorank.deprecation import renamed
from taylorank.errors import DataError
from taylorank.models.histories import over_items
from taylorank.models.logits import Logits, logits_of
from taylorank.models.rg import RGFamily
from taylorank.objectives import RG

Floats = NDArray[np.float64]
SMALL, LARGE = 0.3, 1.0  # of |o|: below the first the expansion holds, above the second it does not
ILL = 1e6
BLOCK = 128  # users scored at a time
SHARES = tuple(round(0.05 * step, 2) for step in range(20))  # values of regularization that are compared
NEAR = 0.026  # shares no further apart count as equal


@dataclass(frozen=True)
class Diagnosis:
    """Plain words first, numbers after; `print` shows both."""

    words: tuple[str, ...]
    numbers: dict[str, float]

    def __str__(self) -> str:
        width = max(len(name) for name in self.numbers)
        return "\n".join([*self.words, "", *(f"{name:<{width}}  {value:.6g}" for name, value in self.numbers.items())])


@renamed(seed="random_state")
def diagnose(model: Any, data: Any = None, *, users: int = 500, random_state: int = 0) -> Diagnosis:
    """Check a fitted factor model: how well it approximates softmax, its condition numbers, and its penalty.

    `data` holds the positives that losses are measured on: validation data, or the training data (the default). Losses
    are means over the positives of at most `users` users, drawn by `random_state`. A spectral fit of RG2 or RGX has its
    factors for every penalty; given validation data, the result names the penalty with the lowest RG² loss there.

    >>> from taylorank.data import planted
    >>> from taylorank.models import RG2
    >>> train, valid, test = planted(200, 80, interactions=3000).split()
    >>> print(diagnose(RG2(8).fit(train), valid).words[0][:23])
    The scores are moderate
    """
    check_whole(users, "users")
    check_seed(random_state)
    logits = logits_of(model)
    if data is None and not model.seen.nnz:
        raise DataError("this model was saved without the histories of its users", "give the data to measure on")
    positives = model.seen if data is None else over_items(read_interactions(data), model.items)
    rows = _known_rows(model, positives, users, random_state)
    numbers = {**_scores(logits, positives, rows), **_conditions(logits)}
    words = [*_about_scores(logits, numbers), *_about_systems(numbers)]
    if _has_spectrum(model):
        numbers |= _spectrum(model)
        words += _about_penalty(model, numbers, None if positives is model.seen else positives)
    return Diagnosis(tuple(words), numbers)


def _known_rows(model: Any, data: Interactions, users: int, random_state: int) -> list[tuple[int, int]]:
    """Pairs (row of the model, row of the data) of users with positives, at most `users` of them."""
    position = model.users.positions(data.user_ids)
    there = np.flatnonzero((position >= 0) & (data.by_user.row_lengths > 0))
    if not len(there):
        raise DataError("the model knows none of the users with interactions here", "check that both use the same ids")
    some = np.sort(np.random.default_rng(random_state).permutation(there)[:users])
    return [(int(position[row]), int(row)) for row in some]


def _scores(logits: Logits, data: Interactions, rows: list[tuple[int, int]]) -> dict[str, float]:
    """Sizes of o over all items, and the mean losses over positives."""
    q, bounds, columns = logits.proposal, data.by_user.indptr, data.by_user.indices
    size, largest, beyond, cells = 0.0, 0.0, 0, 0
    sums, gaps, count = np.zeros(3), np.zeros(2), 0
    for start in range(0, len(rows), BLOCK):
        part = rows[start : start + BLOCK]
        o = logits.users[[x for x, _ in part]] @ logits.items.T  # (B, N)
        absolute = np.abs(o)
        size, largest = size + float(absolute.sum()), max(largest, float(absolute.max()))
        beyond, cells = beyond + int((absolute > 1).sum()), cells + o.size
        background = _backgrounds(o, q)  # (3, B)
        for i, (_, row) in enumerate(part):
            mine = columns[bounds[row] : bounds[row + 1]]
            sums += len(mine) * background[:, i] - o[i, mine].sum()
            gaps += len(mine) * np.abs(background[0, i] - background[1:, i])
            count += len(mine)
    softmax, rgx, rg2 = sums / count
    return {
        "mean |o|": size / cells,
        "max |o|": largest,
        "share of |o| > 1": beyond / cells,
        "softmax loss": softmax,
        "RG× loss": rgx,
        "RG² loss": rg2,
        "mean |softmax − RG×|": gaps[0] / count,
        "mean |softmax − RG²|": gaps[1] / count,
    }


def _backgrounds(o: Floats, q: Floats) -> Floats:
    """log Σ q e^o, q·o + ½ (q·o² − (q·o)²), q·o + ½ q·o² of every row, (3, B)."""
    top = o.max(axis=1)
    softmax = top + np.log(np.exp(o - top[:, None]) @ q)
    mean, square = o @ q, (o * o) @ q
    return np.stack((softmax, mean + 0.5 * (square - mean**2), mean + 0.5 * square))


def _conditions(logits: Logits) -> dict[str, float]:
    """Condition numbers of Qᵀ diag(q) Q and Pᵀ P, factors that vanish left out."""
    Q = logits.items * np.sqrt(logits.proposal)[:, None]
    return {"condition of items' Gram": _condition(Q), "condition of users' Gram": _condition(logits.users)}


def _condition(rows: Floats) -> float:
    values = np.linalg.eigvalsh(rows.T @ rows)
    values = values[values > 1e-12 * max(values[-1], 0.0)]
    return float(values[-1] / values[0]) if len(values) else float("nan")


def _about_scores(logits: Logits, numbers: dict[str, float]) -> list[str]:
    size = f"(mean |o| {numbers['mean |o|']:.2g}, largest {numbers['max |o|']:.2g})"
    if not logits.are_logits:
        return [
            f"The scores {size} were not fitted as logits; the losses below treat them as logits under a "
            "uniform proposal, for comparison only."
        ]
    gap, gain = numbers["mean |softmax − RG×|"], -numbers["softmax loss"]
    missed = f"the expansion misses {gap:.2g} of a softmax loss that is {abs(gain):.2g} "
    missed += "below" if gain > 0 else "above"
    missed += " that of zero scores"
    if numbers["mean |o|"] < SMALL:
        verdict = f"The scores are small {size}: most items lie where softmax is nearly quadratic"
    elif numbers["mean |o|"] < LARGE:
        verdict = f"The scores are moderate {size}: the quadratic approximates softmax roughly"
    else:
        verdict = f"The scores are large {size}: read them as a ranking, not as logits"
    return [f"{verdict}; {missed}."]


def _about_systems(numbers: dict[str, float]) -> list[str]:
    worst = max(numbers["condition of items' Gram"], numbers["condition of users' Gram"])
    if not numbers["max |o|"]:
        return ["All scores are 0: the penalty has left nothing; lower regularization."]
    if worst > ILL:
        return [
            f"The systems are ill-conditioned ({worst:.1e}): some factors hardly matter; raise regularization, or use "
            "fewer factors."
        ]
    return [f"The systems are well-conditioned ({worst:.2g})."]


def _about_penalty(model: Any, numbers: dict[str, float], data: Interactions | None) -> list[str]:
    """Return what the threshold left of the factors, and which one `data` favour; add that to `numbers`."""
    rank = int(numbers["factors that are not 0"])
    if not rank:
        return []
    explained, kept = numbers["variance of targets in these factors"], numbers["share of it kept by the threshold"]
    words = [
        f"Of the variance of the targets the {rank} factors hold {100 * explained:.2g} %, of which "
        f"the threshold leaves {100 * kept:.0f} %."
    ]
    if rank < model.factors:
        words.append(
            f"{model.factors - rank} of {model.factors} factors are 0: factors={rank} is the same "
            "model, or lower regularization to use them."
        )
    if not _holds_path(model):
        words.append("Only a spectral fit (not ALS, not a file) knows other penalties; `tune` finds the best.")
    elif data is None:
        words.append("Give validation data to learn which regularization it favours.")
    else:
        share, gain = _best_share(model, data)
        numbers["best regularization for RG² loss"] = share
        words.append(_about_share(model.regularization, share, gain))
    return words


def _about_share(own: float, best: float, gain: float) -> str:
    if abs(best - own) < NEAR:
        return f"regularization={own:g} is right: the RG² loss on these data is lowest there."
    return (
        f"{'Raise' if best > own else 'Lower'} regularization from {own:g} towards {best:g}: the RG² loss on these "
        f"data is {gain:.2g} lower there. The best ranking may need another value; `tr.tune` finds it."
    )


def _has_spectrum(model: Any) -> bool:
    """Whether one SVD solves what the model does (RG2, RGX), and it still has the data that it was fitted to."""
    thresholds = isinstance(model, RGFamily) and model.penalty == "weighted"
    return thresholds and bool(model._trained_on.is_of(model.seen))


def _spectrum(model: Any) -> dict[str, float]:
    """D = (σ − τ)₊, the singular values of P'Q'ᵀ, beside those σ of S' that they come from."""
    objective: RG = model._objective(model.seen)
    P = np.sqrt(objective.context)[:, None] * model.user_factors.astype(np.float64)
    Q = np.sqrt(objective.proposal)[:, None] * model.item_factors.astype(np.float64)
    users, items = (np.asarray(np.linalg.qr(side, mode="r")) for side in (P, Q))  # two triangles have the same σ
    D = np.linalg.svd(users @ items.T, compute_uv=False)
    D = D[1e-6 * max(float(D[0]), np.finfo(float).tiny) < D]
    tau = float(model.penalty_) * np.sqrt(objective.context_total)
    sigma = D + tau
    largest, energy = float(sigma[0]) if len(sigma) else tau, float(sigma @ sigma)
    return {
        "factors that are not 0": float(len(D)),
        "threshold over largest singular value": tau / largest if largest else float("nan"),
        "variance of targets in these factors": energy / objective.squared_norm if objective.squared_norm else np.nan,
        "share of it kept by the threshold": float(D @ D) / energy if energy else 0.0,
    }


def _holds_path(model: Any) -> bool:
    """Whether the model knows its factors at other thresholds: it was fitted here, by the SVD."""
    path = model.__dict__.get("path_")
    return path is not None and path.plain_weight is None and len(path.context) == len(model.users)


def _best_share(model: Any, data: Interactions) -> tuple[float, float]:
    """Return the τ/σ₁ with the lowest RG² loss on `data`, and how much lower than the model's."""
    path = model.path_
    shares = (*SHARES, float(model.regularization))
    losses = [_rg2_loss(model, data, *path.factors(model.factors, share)) for share in shares]
    best = int(np.argmin(losses))
    return shares[best], losses[-1] - losses[best]


def _rg2_loss(model: Any, data: Interactions, P: Floats, Q: Floats) -> float:
    """Mean over the pairs of `data` of −o_y + q·o + ½ q·o², through the Gram matrix of the items."""
    position = model.users.positions(data.user_ids)
    rows = position[data.by_user.row_of_entry()]
    there = rows >= 0
    rows, columns = rows[there], data.by_user.indices[there]
    P, Q = P.astype(np.float64), Q.astype(np.float64)
    weighted = model.proposal_[:, None] * Q
    background = P @ weighted.sum(axis=0) + 0.5 * np.einsum("xi,ij,xj->x", P, weighted.T @ Q, P, optimize=True)
    # Σ_p P_x · Q_y as ⟨P, Σ_y Q_y⟩: no gathered rows of both sides
    by_user = np.zeros_like(P)
    np.add.at(by_user, rows, Q[columns])
    counts = np.bincount(rows, minlength=len(P))
    return float((counts @ background - np.vdot(P, by_user)) / max(len(rows), 1))
