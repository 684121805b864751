"""What a sweep of ALS costs, in multiplications that are counted as they are made: no clock, so no load moves it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import nnls

from research.claims.claim import Claim, Judgement, Numbers, decide
from research.claims.dense import Floats, binary_matrix, relative
from research.papers import PU_2024, PU_2025

PENALTY = 0.1
# users, items, share of pairs observed, rank
SIZES = (
    *((160, 120, 0.2, rank) for rank in (8, 16, 32, 64)),
    *((160, 120, density, 32) for density in (0.05, 0.8)),
    *((users, 120, 0.2, 32) for users in (60, 480)),
)
EXACT = 1e-8
FITS = 0.15
PRINTED, CORRECTED = "|D|K² + (M + N)K³", "|D|K + (M + N)K² + K³"


@dataclass
class Count:
    """Multiplications so far."""

    total: float = 0.0

    def product(self, A: Floats, B: Floats) -> Floats:
        """Return AB at the price of its inner loop."""
        self.total += A.shape[0] * A.shape[1] * B.shape[1]
        made: Floats = A @ B
        return made

    def solve(self, G: Floats, b: Floats) -> Floats:
        """Return G⁻¹b at the price of a Cholesky factor and two triangular solves."""
        self.total += len(G) ** 3 / 3 + len(G) ** 2
        return np.linalg.solve(G, b)


@dataclass(frozen=True)
class Half:
    """Half a sweep: Σ_y w_xy (P_x·Q_y − s_xy)² + λ‖P_x‖², w = a_x b_y where nothing was observed."""

    R: Floats
    a: Floats
    b: Floats
    w: Floats
    s: Floats

    @property
    def mirrored(self) -> Half:
        """The other half."""
        return Half(self.R.T, self.b, self.a, self.w.T, self.s.T)


def every_cell(half: Half, Q: Floats, count: Count) -> Floats:
    """Return P with QᵀW_xQ summed over all items for every row, as Algorithm 1 reads: MNK² + MK³."""
    eye, rows = PENALTY * np.eye(Q.shape[1]), []
    for w, s in zip(half.w, half.s, strict=True):
        count.total += 2 * Q.size
        rows.append(count.solve(count.product((Q * w[:, None]).T, Q) + eye, (w * s) @ Q))
    return np.array(rows)


def observed_cells(half: Half, Q: Floats, count: Count) -> Floats:
    """Return P with a Gram matrix of all items, corrected by what a row observed: |D|K² + (M + N)K² + MK³."""
    shared, sums = count.product((Q * half.b[:, None]).T, Q), half.b @ Q
    eye, rows = PENALTY * np.eye(Q.shape[1]), []
    for x, seen in enumerate(half.R > 0):
        base, w = half.a[x] * half.b[seen], half.w[x, seen]
        G = half.a[x] * shared + count.product((Q[seen] * (w - base)[:, None]).T, Q[seen]) + eye
        count.total += Q[seen].size + Q.size / len(half.R)
        rows.append(count.solve(G, (w * half.s[x, seen] + base) @ Q[seen] - half.a[x] * sums))
    return np.array(rows)


def one_matrix(half: Half, Q: Floats, count: Count) -> Floats:
    """Return P from one eigenbasis for all rows: |D|K + (M + N)K² + K³; exact where w = a_x b_y everywhere."""
    values, V = np.linalg.eigh(count.product((Q * half.b[:, None]).T, Q))
    count.total += 9 * len(V) ** 3 + Q.size
    on_observed = np.where(half.R > 0, half.w * half.s + np.outer(half.a, half.b), 0.0)
    count.total += half.R.sum() * Q.shape[1]  # a sparse product
    right = on_observed @ Q - np.outer(half.a, half.b @ Q)
    rotated = count.product(right, V) / (np.outer(half.a, values) + PENALTY)
    return count.product(rotated, V.T)


WAYS = {"every cell": every_cell, "observed cells": observed_cells, "one matrix": one_matrix}


def sweep(seed: int, size: tuple[int, int, float, int], observed_weight: float) -> Numbers:
    """Return the multiplications of a sweep by each way, and how far its factors are from those of the first."""
    users, items, density, rank = size
    rng = np.random.default_rng(seed)
    R, Q = binary_matrix(rng, users, items, density=density), rng.standard_normal((items, rank))
    lengths = R.sum(axis=1)
    a, b = lengths / lengths.mean(), np.full(items, 1.0)
    half = Half(R, a, b, np.outer(a, b) * np.where(R > 0, observed_weight, 1.0), R * items / lengths[:, None] - 1)
    made, counts = {}, {}
    for name, way in WAYS.items():
        count = Count()
        P = way(half, Q, count)
        made[name], counts[name] = np.vstack((P, way(half.mirrored, P, count))), count.total
    exact = {name: relative(factors, made["every cell"]) < EXACT for name, factors in made.items()}
    return {
        "users, items, interactions, rank": [users, items, int(R.sum()), rank],
        "multiplications": counts,
        "exact": exact,
        "fewest": min(counts[name] for name in counts if exact[name]),
    }


def terms(formula: str, row: Numbers) -> list[float]:
    """Return the terms of a formula at the size of a sweep."""
    users, items, pairs, rank = row["users, items, interactions, rank"]
    if formula == PRINTED:
        return [pairs * rank**2, (users + items) * rank**3]
    return [pairs * rank, (users + items) * rank**2, rank**3]


def misfit(formula: str, rows: list[Numbers]) -> float:
    """Return the largest relative error of multiples ≥ 0 of a formula's terms for the fewest multiplications."""
    design = np.array([np.array(terms(formula, row)) / row["fewest"] for row in rows])
    multiples, _ = nnls(design, np.ones(len(rows)))
    return float(np.abs(design @ multiples - 1).max())


def counted_sweeps(seed: int, *, observed_weight: float = 1.0) -> Numbers:
    """Sweeps of RG² at several sizes; `observed_weight` weighs observed pairs, as WRMF does."""
    rows = [sweep(seed, size, observed_weight) for size in SIZES]
    return {"sweeps": rows, "largest error of": {formula: misfit(formula, rows) for formula in (PRINTED, CORRECTED)}}


def judge_counts(n: Numbers) -> Judgement:
    """A formula says what a sweep costs if multiples of its terms give the fewest multiplications."""
    printed, corrected = (n["largest error of"][formula] for formula in (PRINTED, CORRECTED))
    widest = max(n["sweeps"], key=lambda row: row["users, items, interactions, rank"][3])
    counts, exact = widest["multiplications"], widest["exact"]
    shown = ", ".join(f"{name} {counts[name] / 1e6:.1f} M{'' if exact[name] else ' (not exact)'}" for name in counts)
    return Judgement(
        decide(printed < FITS, corrected < FITS),
        f"over {len(n['sweeps'])} sizes multiples of the terms of {PRINTED} miss the fewest multiplications of an "
        f"exact sweep by up to {printed:.0%}, those of {CORRECTED} by up to {corrected:.0%}; at rank "
        f"{widest['users, items, interactions, rank'][3]}: {shown}",
    )


CLAIMS = (
    Claim(
        id="cost-of-a-sweep",
        group="Cost and time",
        source=f"{PU_2025}, Sec. 4.4.2; {PU_2024}, Sec. 3.4.3",
        statement="A sweep of ALS for RG² costs O(|D|K² + (M + N)K³).",
        method="Multiplications of a sweep, counted as they are made, on random data of eight sizes, in three ways "
        "that must give the same factors: over every cell, over observed cells beside a shared Gram matrix, and with "
        "one matrix for all rows. A formula says what a sweep costs if multiples of its terms give the fewest of an "
        f"exact way within {FITS:.0%}.",
        experiment=counted_sweeps,
        judge=judge_counts,
        change={"observed_weight": 4.0},
        change_in_words="observed pairs that weigh four times as much as others, where one matrix no longer serves",
        correction="As an upper bound; it is what weights by cell cost. For RG² one matrix serves all rows, and a "
        "sweep costs O(|D|K + (M + N)K² + K³).",
    ),
)
