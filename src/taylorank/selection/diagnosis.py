"""Does the quadratic loss approximate softmax here, are the systems well-conditioned, and is the penalty right?

The losses are those of `candidate_loss`: all are 0 for zero scores, which say nothing about the user.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taylorank.checks import check_whole, typed
from taylorank.data import Interactions, read_interactions
from taylorank.data.shuffle import check_seed
from taylorank.deprecation import renamed
from taylorank.errors import DataError
from taylorank.models.histories import over_items
from taylorank.models.logits import Logits, logits_of
from taylorank.models.rg_family import RGFamily
from taylorank.objectives import RG
from taylorank.progress import Show, narrated, report
from taylorank.ranking.masks import seen_parts
from taylorank.ranking.ranker import ranker_of
from taylorank.selection.candidate_loss import Pairs, losses_of, pairs_of, rg2_losses

Floats = NDArray[np.float64]
SMALL, LARGE = 0.3, 1.0  # of |o|: below the first the expansion holds, above the second it does not
ILL = 1e6
SHARES = tuple(round(0.05 * step, 2) for step in range(20))  # values of regularization that are compared
NEAR = 0.026  # shares no further apart count as equal
LARGEST_EXPONENT = 20.0  # beyond it a ratio of probabilities is written as a power of e


@dataclass(frozen=True)
class Diagnosis:
    """Plain words first, numbers after; `print` shows both."""

    words: tuple[str, ...]
    numbers: dict[str, float]

    def __str__(self) -> str:
        width = max(len(name) for name in self.numbers)
        return "\n".join([*self.words, "", *(f"{name:<{width}}  {value:.6g}" for name, value in self.numbers.items())])


@renamed(seed="random_state")
@typed
def diagnose(
    model: Any,
    data: Any = None,
    *,
    seen: Interactions | Sequence[Interactions] | None = None,
    users: int = 500,
    random_state: int = 0,
    progress: Show = None,
) -> Diagnosis:
    """Check a fitted factor model: how well it approximates softmax, its condition numbers, and its penalty.

    `data` holds the positives that losses are measured on: validation data, or the training data (the default). For
    data that are not the training data, the items in `seen` (the training data by default) are no candidates of their
    users, as in `evaluate`. Losses are means over the positives of at most `users` users, drawn by `random_state`. A
    spectral fit of RG2 or RGX has its factors for every penalty; given validation data, the result names the penalty
    with the lowest RG² loss there. `progress` is where to show how far it is (`taylorank.progress`): by default on a
    terminal.

    >>> from taylorank.data import planted
    >>> from taylorank.models import RG2
    >>> train, valid, test = planted(200, 80, interactions=3000).split()
    >>> print(diagnose(RG2(8).fit(train), valid).words[0][:23])
    The scores are moderate
    """
    check_whole(users, "users")
    check_seed(random_state)
    with narrated(f"diagnosing {type(model).__name__}", progress):
        return _diagnosed(model, data, seen=seen, users=users, random_state=random_state)


def _diagnosed(model: Any, data: Any, *, seen: Any, users: int, random_state: int) -> Diagnosis:
    report("drawing pairs")
    logits, ranker = logits_of(model), ranker_of(model)
    if data is None and not model.seen.nnz:
        raise DataError("this model was saved without the histories of its users", "give the data to measure on")
    positives = model.seen if data is None else over_items(read_interactions(data), model.items)
    masks = [] if data is None else [part for part in seen_parts(ranker, seen) if part.nnz]
    pairs = pairs_of(model, positives, masks, users, random_state)
    report("measuring losses")
    numbers = losses_of(logits, pairs)
    report("finding condition numbers")
    numbers |= _conditions(logits)
    own = data is None or (bool(masks) and pairs.hidden is None)
    words = [*_about_scores(logits, numbers), _about_gain(pairs, numbers, trained_on_these=own)]
    words += _about_systems(numbers)
    if _has_spectrum(model):
        report("comparing penalties")
        numbers |= _spectrum(model)
        words += _about_penalty(model, numbers, None if own else pairs)
    return Diagnosis(tuple(words), numbers)


def _conditions(logits: Logits) -> dict[str, float]:
    """Condition numbers of Qᵀ diag(q) Q and Pᵀ P, factors that vanish left out."""
    Q = logits.items * np.sqrt(logits.proposal)[:, None]
    return {"condition of items' Gram": _condition(Q), "condition of users' Gram": _condition(logits.users)}


def _condition(rows: Floats) -> float:
    values = np.linalg.eigvalsh(rows.T @ rows)
    values = values[values > 1e-12 * max(values[-1], 0.0)]
    return float(values[-1] / values[0]) if len(values) else float("nan")


def _about_scores(logits: Logits, numbers: dict[str, float]) -> list[str]:
    """Return how large the scores are, and whether the quadratic is close to softmax at that size."""
    size = f"(mean |o| {numbers['mean |o|']:.2g}, largest {numbers['max |o|']:.2g})"
    if not logits.are_logits:
        return [
            f"The scores {size} were not fitted as logits; the losses below treat them as logits under a "
            "uniform proposal, for comparison only."
        ]
    apart = f"per interaction the two losses differ by {numbers['mean |softmax − RG×|']:.2g}"
    if numbers["mean |o|"] < SMALL:
        return [f"The scores are small {size}: there softmax and its quadratic approximation nearly agree; {apart}."]
    if numbers["mean |o|"] < LARGE:
        return [f"The scores are moderate {size}: the quadratic approximates softmax only roughly there; {apart}."]
    return [
        f"The scores are large {size}: the quadratic is far from softmax there; {apart}. Trust the order of the "
        "items, and do not read the scores as logits of a softmax."
    ]


def _about_gain(pairs: Pairs, numbers: dict[str, float], *, trained_on_these: bool) -> str:
    """Return what the model knows about its users: e^gain is a ratio of probabilities (their geometric mean)."""
    gain = -numbers["softmax loss"]
    where = "On interactions that were not in training" if pairs.hidden is not None else "On these interactions"
    if trained_on_these:
        where = "On its own training data (give validation data for an honest number)"
    ratio = f"{exp(gain):.2g} times" if abs(gain) < LARGEST_EXPONENT else f"e^{gain:.0f} times"
    text = (
        f"{where} softmax loss is {abs(gain):.2g} {'below' if gain > 0 else 'above'} that of zero scores: an item that "
        f"was chosen has {ratio} the probability that it would have without knowledge of the user"
    )
    if gain < 0:
        text += ". That is worse than knowing nothing; `tr.evaluate` shows whether the order of the items is good"
    if pairs.hidden is None and not trained_on_these:
        text += "; the model has no histories, so items chosen before compete too (pass them as seen)"
    if pairs.repeated:
        text += f"; {pairs.repeated:,} interactions that were in training are left out"
    return f"{text}."


def _about_systems(numbers: dict[str, float]) -> list[str]:
    worst = max(numbers["condition of items' Gram"], numbers["condition of users' Gram"])
    if not numbers["max |o|"]:
        return ["All scores are 0: the penalty has left nothing; lower regularization."]
    if worst > ILL:
        return [
            f"The equations are ill-conditioned (condition number {worst:.1e}): some factors hardly matter and "
            "rounding errors do; raise regularization, or use fewer factors."
        ]
    return [f"The equations are well-conditioned (condition number {worst:.2g}): rounding errors do no harm."]


def _about_penalty(model: Any, numbers: dict[str, float], pairs: Pairs | None) -> list[str]:
    """Return what the threshold left of the factors, and which one `pairs` favour; add that to `numbers`."""
    rank = int(numbers["factors that are not 0"])
    if not rank:
        return []
    explained, kept = numbers["variance of targets in these factors"], numbers["share of it kept by the threshold"]
    words = [
        f"The {rank} factors can reproduce {100 * explained:.2g} % of how users in the training data differ (the "
        f"variance of the targets); regularization keeps {100 * kept:.0f} % of that and drops the rest as noise."
    ]
    if rank < model.rank:
        words.append(
            f"{model.rank - rank} of {model.rank} factors are 0: factors={rank} is the same "
            "model, or lower regularization to use them."
        )
    if not _holds_path(model):
        words.append("Only a spectral fit (not ALS, not a file) knows other penalties; `tune` finds the best.")
    elif pairs is None:
        words.append("Give validation data to learn which regularization it favours.")
    else:
        share, gain = _best_share(model, pairs)
        numbers["best regularization for RG² loss"] = share
        words.append(_about_share(model.share, share, gain))
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


def _best_share(model: Any, pairs: Pairs) -> tuple[float, float]:
    """Return the τ/σ₁ with the lowest RG² loss on `pairs`, and how much lower than the model's."""
    path, shares = model.path_, np.array((*SHARES, model.share))
    sigma = path.svd.values[: model.rank].astype(np.float64)
    shrunk = np.maximum(sigma - shares[:, None] * path.largest, 0.0)  # P and Q take up its root each
    scales = np.divide(shrunk, sigma, out=np.zeros_like(shrunk), where=sigma > 0)
    P, Q = path.factors(model.rank, 0.0)
    losses = rg2_losses(pairs, model.proposal_, P[pairs.users], Q, scales)
    best = int(np.argmin(losses))
    return float(shares[best]), float(losses[-1] - losses[best])
