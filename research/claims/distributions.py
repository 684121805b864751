"""Distributions over the sets of items that one context may like, small enough to know everything about them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from research.claims.dense import Floats


@dataclass(frozen=True)
class Sets:
    """`chance[s]` is the probability that the relevant items are those of row s of `members` (S, N)."""

    members: Floats
    chance: Floats

    @property
    def relevance(self) -> Floats:
        """E[r], (N,): ranking by it is best for DCG."""
        expected: Floats = self.chance @ self.members
        return expected

    @property
    def sizes(self) -> Floats:
        """I of every set, (S,)."""
        sizes: Floats = self.members.sum(axis=1)
        return sizes

    def best_rg2(self, *, context_exponent: float = 1.0, shares: Floats | None = None) -> Floats:
        """Return the scores of least Σ_s p_s I_s^ρ Σ_y (o_y − (r_y N / I_s − 1))², `shares` in place of p."""
        p = self.chance if shares is None else shares
        weight = p * self.sizes**context_exponent
        goals = self.members * self.members.shape[1] / self.sizes[:, None] - 1
        scores: Floats = weight @ goals / weight.sum()
        return scores

    def draw(self, rng: np.random.Generator, count: int) -> Floats:
        """Return the shares of the sets in `count` draws."""
        shares: Floats = rng.multinomial(count, self.chance) / count
        return shares


def least_squares(weights: Floats, goals: Floats) -> Floats:
    """Return the o of least Σ_s Σ_y w_sy (o_y − g_sy)²; a general solver finds it, no formula is put in."""
    roots = np.sqrt(weights)
    rows = roots[:, :, None] * np.eye(goals.shape[1])  # one residual √w (o_y − g) for every outcome and item
    scores: Floats = np.linalg.lstsq(rows.reshape(-1, goals.shape[1]), (roots * goals).ravel(), rcond=None)[0]
    return scores


def least_rg2(strengths: Floats, chance: Floats, *, q: Floats | None = None, context_exponent: float = 1.0) -> Floats:
    """Return the scores of least expected RG², Σ_s p_s I_s^ρ Σ_y q_y (o_y − (r_sy / (I_s q_y) − 1))²; I_s = Σ r_s."""
    total, n_items = strengths.sum(axis=1, keepdims=True), strengths.shape[1]
    proposal = np.full(n_items, 1 / n_items) if q is None else q
    weights = chance[:, None] * total**context_exponent * proposal
    return least_squares(weights, strengths / (total * proposal) - 1)


def random_sets(rng: np.random.Generator, *, n_items: int = 8, n_sets: int = 12) -> Sets:
    """Return random sets of random sizes with random probabilities."""
    members = np.zeros((n_sets, n_items))
    for row in members:
        row[rng.choice(n_items, int(rng.integers(1, n_items)), replace=False)] = 1.0
    return Sets(members, rng.dirichlet(np.ones(n_sets)))


def two_items(small_for_first: bool) -> Sets:
    """Return the case where A is wanted with probability 0.52 and B with 0.48, one of them always with four others."""
    members = np.zeros((2, 6))
    alone, crowd = (0, 1) if small_for_first else (1, 0)
    members[alone, alone] = 1.0
    members[crowd, [crowd, 2, 3, 4, 5]] = 1.0
    return Sets(members, np.array([0.52, 0.48]))


def keeps_order(scores: Floats, relevance: Floats, *, slack: float = 1e-9) -> bool:
    """Whether η_i > η_j implies s_i > s_j for all pairs."""
    above = relevance[:, None] > relevance[None, :] + slack
    return bool(np.all((scores[:, None] > scores[None, :])[above]))
