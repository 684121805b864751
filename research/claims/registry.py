"""Every claim by its id, in the order of the page."""

from __future__ import annotations

from research.claims import (
    algorithm,
    bound_on_ndcg,
    consistency,
    convergence,
    family_consistency,
    family_training,
    from_records,
    generalisation,
    graded,
    interaction,
    jacobians,
    nce,
    negatives,
    newton_formulas,
    printed_baselines,
    printed_tables,
    proposals,
    recovery,
    regimes,
    sampled_rg,
    sampling_bias,
    speed,
    square_forms,
    step_cost,
    sweep_cost,
    sweeps_over_settings,
    taylor,
    upper_bound,
    weights,
)
from research.claims.claim import Claim
from taylorank.errors import ParameterError

MODULES = (
    bound_on_ndcg,
    taylor,
    square_forms,
    interaction,
    sampled_rg,
    consistency,
    weights,
    upper_bound,
    generalisation,
    algorithm,
    newton_formulas,
    convergence,
    family_consistency,
    jacobians,
    sampling_bias,
    nce,
    proposals,
    family_training,
    recovery,
    sweeps_over_settings,
    graded,
    negatives,
    sweep_cost,
    step_cost,
    speed,
    printed_baselines,
    printed_tables,
    from_records,
    regimes,
)
CLAIMS: dict[str, Claim] = {claim.id: claim for module in MODULES for claim in module.CLAIMS}


def claim_named(name: str) -> Claim:
    """Return the claim with this id.

    >>> claim_named("rg2-square-form").group
    'From softmax to RG'
    """
    try:
        return CLAIMS[name]
    except KeyError:
        raise ParameterError(f"no claim has the id {name!r}", f"choose from {', '.join(CLAIMS)}") from None
