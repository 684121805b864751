"""RG² and RG×, fitted by one SVD or by ALS."""

from __future__ import annotations

from typing import ClassVar

from taylorank.models.factor import FactorModel
from taylorank.models.recommender import Recommender
from taylorank.models.rg_family import RGFamily
from taylorank.objectives import RG, RG2Objective, RGXObjective


class RG2(RGFamily, FactorModel, Recommender):
    """Minimise Σ_x (c_x/2) Σ_y q_y (P_x·Q_y − s_xy)² + ½ λ Σ_x c_x ‖P_x‖² + ½ λ C Σ_y q_y ‖Q_y‖².

    s_xy = r_xy / (I_x q_y) − 1, q_y ∝ popularity^γ, c_x = I_x^ρ (see `objectives.rg`): softmax loss under the
    proposal q, expanded to second order. Strengths and popularity are measured in the median strength of the training
    data, so that their unit does not matter.

    Parameters
    ----------
    factors
        K, the rank. None: a quarter of the smaller side of the data, at least 64 and at most 1024; no more than that
        side, nor than factors of 2 GiB have. `rank` has the number.
    regularization
        τ / σ₁ in [0, 1): the share of the largest singular value that the threshold takes from all of them. The
        same number means the same on every data set. None: 0.55 of where the singular values of the same data with
        shuffled items end, over σ₁, and at most 0.4; `share` has the number. With penalty="plain": λ ≥ 0 itself, 0.1
        for None.
    proposal_exponent, context_exponent
        γ and ρ. The defaults, with those of the two above, were chosen on validation data (docs/benchmarks.md);
        `RG2.paper()` has the papers' γ = 0, ρ = 1.
    half_life
        Strengths halve with every so many days before the last moment of the data (of numbers that are places in a
        sequence: with so many places), and with them the popularity in q (`taylorank.data.faded`). None: they do not.
    score_penalty
        κ over the mean of c: adds ½ κ Σ_xy q_y o_xy², which draws the scores of light contexts towards the proposal.
    penalty
        "weighted": each factor by the weight of its row, as above. "plain": ½ (λ/N) (‖P‖² + ‖Q‖²), which is
        λ (‖P‖² + ‖Q‖²) of Pu et al. 2025, Eq. 31, at the scale of this loss (times 2N it is theirs). It needs
        solver="als" unless γ = ρ = 0 (see `objectives.rg`); `RG2.literal()` has Eq. 31 with the papers' γ and ρ.
    ranking
        "probability" ranks by p = q_y (1 + o_xy), consistent with DCG; "lift" by o_xy, which favours rare items.
    popularity_discount
        δ: rank by p / popularity^δ instead of p. 0 is the probability itself, γ the lift.
    solver
        "spectral": one SVD, which is the global optimum once it has converged (`tolerance`) and also gives every
        smaller K and every λ (`path`). "als": the same optimum in the limit, sweep by sweep.
    tolerance, max_passes
        Spectral: stop when every residual is ≤ tolerance · σ₁ (0: machine precision). With the default two seeds give
        more than 99.9 % of the users of ML-1M and Yelp2018 the same list of ten (docs/benchmarks.md).
        `max_passes` limits the work; a fit that it stops early is not the optimum. ALS: stop when a sweep lowers
        the loss L by no more than tolerance · (L(0) − L), L(0) being that of zero factors.
    iterations
        ALS: the maximum number of sweeps.
    random_state
        Seed of the start.
    num_threads
        Threads of fitting and of recommending (None: all that the process may use); the result is the same.
    device
        "cuda" fits and ranks on a CUDA device (with torch), "cpu" does not, "auto" does where torch sees one. The model
        is the same up to rounding, and can be used on either.

    After fitting, `residual_` is the largest residual over σ₁ and `passes_` the number of passes (spectral), and
    `history_` the record of the fit.

    >>> from taylorank.data import planted
    >>> train, valid, test = planted(200, 80, interactions=3000).split()
    >>> model = RG2(factors=8).fit(train)
    >>> model.recommend([0], n=3)[0].shape
    (1, 3)
    """

    objective: ClassVar[type[RG]] = RG2Objective


class RGX(RGFamily, FactorModel, Recommender):
    """RG×: RG² with the interaction −½ (q · o_x)² of the scores of one context kept; parameters as in `RG2`.

    In matrix factorisation both have the same solution (q · o vanishes there); they differ for other encoders, and
    under the plain penalty with γ ≠ 0. (Eq. 31 prints ‖o_x‖² in the place of (1ᵀo_x)², which only scales the Gram
    matrix by 1 − 1/N: `RGX.literal()` has (1ᵀo_x)², and with it the solution of `RG2.literal()`.)
    """

    objective: ClassVar[type[RG]] = RGXObjective
