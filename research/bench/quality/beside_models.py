"""The models of `beside`: each idea as settings, in words, with something that ranks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from taylorank.data import Interactions
from taylorank.data.recency import ages
from taylorank.errors import DataError
from taylorank.models import RG2, Distilled
from taylorank.ranking import Ranker

SHARES = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5)
EXPONENTS = (0.5, 1.0, 1.5, 2.0, 3.0)
WEIGHTS = (0.1, 0.2, 0.5, 1.0, 2.0)
STEPS = (0.5, 1.0)
SPANS = (1 / 16, 1 / 8, 1 / 4, 1 / 2, 1.0)
PLACES = (1.0, 2.0, 4.0, 8.0, 16.0)
MOST_CELLS = 30_000_000  # of a dense matrix of scores
PASSES = 6  # of subspace iteration, from the singular vectors before the step
STUDENT_SEEDS = 3
Floats = NDArray[Any]
Settings = Iterator[tuple[str, Any]]


@dataclass(eq=False)
class Judged:
    """The data of one set, its base, and the share τ/σ₁ that was chosen for it."""

    train: Interactions
    choose: Interactions
    show: Interactions
    base: RG2
    share: float = 0.3


class Scored:
    """Whatever has a row of scores for each user."""

    def __init__(self, train: Interactions, scores: Callable[[NDArray[np.int64]], Floats]) -> None:
        self.ranker = Ranker(train.users, train.items, seen=train, scores=lambda users: _plain(scores(users)))


def _plain(scores: Floats) -> Floats:
    return np.ascontiguousarray(scores, dtype=np.float32)


def thresholds(judged: Judged) -> Settings:
    """The base at every threshold."""
    for point in judged.base.path(regularization=SHARES):
        yield f"τ/σ₁ {point.regularization:g}", point


def powers(judged: Judged, *, thresholded: bool) -> Settings:
    """(σ/σ₁)^β in the place of the threshold, or beside that of the base."""
    path: Any = judged.base.path_
    sigma = np.asarray(path.svd.values[: judged.base.rank], dtype=np.float64)
    P, Q = path.factors(judged.base.rank, 0.0)  # of D = σ
    for beta in EXPONENTS:
        kept = np.maximum(sigma - judged.share * sigma[0], 0.0) if thresholded else sigma
        shrunk = np.divide(kept * (sigma / sigma[0]) ** (beta - 1), sigma, out=np.zeros_like(sigma), where=sigma > 0)
        yield f"β {beta:g}", _by_probability(judged, P * shrunk, Q)


def _by_probability(judged: Judged, P: Floats, Q: Floats) -> Scored:
    q = judged.base.proposal_
    return Scored(judged.train, lambda users: q * (1 + P[users] @ Q.T))


def residuals(judged: Judged) -> Settings:
    """+ w R̃R̃ᵀR̃ beside the base."""
    R = judged.train.matrix.astype(np.float64)
    by_user, by_item = (np.maximum(np.asarray(R.sum(axis=axis)).ravel(), 1) ** -0.5 for axis in (1, 0))
    normal = sparse.csr_array(sparse.diags_array(by_user) @ R @ sparse.diags_array(by_item))
    items = sparse.csr_array(normal.T @ normal)
    base = next(judged.base.path(regularization=(judged.share,)))

    def scores(users: NDArray[np.int64], weight: float) -> Floats:
        low = base.probabilities(users).astype(np.float64)
        full = (normal[users] @ items).toarray()
        mixed: Floats = low / low.std(axis=1, keepdims=True) + weight * full / np.maximum(
            full.std(axis=1, keepdims=True), 1e-12
        )
        return mixed

    for weight in WEIGHTS:
        yield f"w {weight:g}", Scored(judged.train, lambda users, w=weight: scores(users, w))  # type: ignore[misc]


def newton_steps(judged: Judged) -> Settings:
    """Targets o + η (r/I − p)/q at the scores o of the model before; one and two steps."""
    train, base = judged.train, judged.base
    if train.n_users * train.n_items > MOST_CELLS:
        raise DataError("users × items are too many for dense scores", "choose a smaller set")
    q, rho = base.proposal_, base.context_exponent
    totals = np.maximum(np.asarray(train.matrix.sum(axis=1)).ravel(), 1e-12)
    context = np.sqrt(totals**rho).astype(np.float32)
    point = next(base.path(regularization=(judged.share,)))
    for eta in STEPS:
        P, Q = point.user_factors.astype(np.float32), point.item_factors.astype(np.float32)
        for step in (1, 2):
            target = newton_target(train, P, Q, q, totals, eta)
            P, Q = fitted(target, Q, context, np.sqrt(q).astype(np.float32), judged.share)
            del target
            yield f"η {eta:g}, step {step}", _by_softmax(train, P, Q, q)


def _by_softmax(train: Interactions, P: Floats, Q: Floats, q: Floats) -> Scored:
    return Scored(train, lambda users: np.log(q) + P[users] @ Q.T)


def newton_target(train: Interactions, P: Floats, Q: Floats, q: Floats, totals: Floats, eta: float) -> Floats:
    """o + η (r/(I q) − e^o / Σ q e^o), (M, N)."""
    target: Floats = P @ Q.T
    for start in range(0, len(target), 1024):
        rows = slice(start, start + 1024)
        power = np.exp(np.minimum(target[rows], 30.0))
        target[rows] -= eta * power / (power @ q)[:, None].astype(np.float32)
    csr = train.by_user
    places = np.repeat(np.arange(train.n_users), csr.row_lengths)
    target[places, csr.indices] += (eta * train.strengths / (totals[places] * q[csr.indices])).astype(np.float32)
    return target


def fitted(target: Floats, Q: Floats, context: Floats, root_q: Floats, share: float) -> tuple[Floats, Floats]:
    """The thresholded SVD of c^½ S q^½ at the rank of Q, by subspace iteration from its columns."""
    target *= context[:, None]
    target *= root_q
    basis = np.linalg.qr(root_q[:, None] * Q)[0]
    for _ in range(PASSES):
        basis = np.linalg.qr(target.T @ (target @ basis))[0]
    U, sigma, W = np.linalg.svd(target @ basis, full_matrices=False)
    root = np.sqrt(np.maximum(sigma - share * sigma[0], 0.0))
    safe = np.where(context > 0, context, 1.0)
    return U * root / safe[:, None], (basis @ W.T) * root / root_q[:, None]


def faded_bases(judged: Judged) -> Settings:
    """The base of strengths that fade."""
    times = judged.train.timestamps
    if times is None:
        raise DataError("the data has no times", "choose another set")
    old = ages(judged.train)
    by_day = float(old.max()) > 2 * int(judged.train.by_user.row_lengths.max())
    for value in [share * float(old.max()) for share in SPANS] if by_day else PLACES:
        own = {**judged.base.get_params(), "regularization": judged.share, "half_life": value}
        yield f"half_life {value:.3g}", RG2(**own).fit(judged.train)


def students(judged: Judged, *, leaves_out: bool) -> Settings:
    """Students of 64, of the base or of the base without the item itself."""
    teacher = next(judged.base.path(regularization=(judged.share,)))
    taught_by: Any = Scored(judged.train, left_out(teacher)) if leaves_out else teacher
    for seed in range(STUDENT_SEEDS):
        student = Distilled(taught_by, factors=min(64, *judged.train.matrix.shape), random_state=seed)
        yield f"seed {seed}", student.fit(judged.train)


def left_out(teacher: RG2) -> Callable[[NDArray[np.int64]], Floats]:
    """Return q (1 + o), in which the o of a seen item is that of a user without it (fold-in, MATHS section 4)."""
    data: Interactions = teacher.train_
    fold_in: Any = teacher.ranker.vectors.fold_in  # type: ignore[union-attr]
    Q, q = teacher.item_factors.astype(np.float64), teacher.proposal_
    centre, inverse = fold_in.sums[0], fold_in._inverse

    def scores(users: NDArray[np.int64]) -> Floats:
        p = teacher.probabilities(users).astype(np.float64)
        for row, user in enumerate(users):
            lies = slice(*data.by_user.indptr[user : user + 2])
            items, r = data.by_user.indices[lies], np.asarray(data.strengths[lies], dtype=np.float64)
            if len(items) > 1:
                sums = (r @ Q[items] - r[:, None] * Q[items]) / (r.sum() - r)[:, None] - centre  # (n, K)
                p[row, items] = q[items] * (1 + np.einsum("nk,nk->n", sums @ inverse, Q[items]))
        return p

    return scores
