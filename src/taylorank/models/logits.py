"""The scores of a factor model as logits of a softmax."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from taylorank.errors import ParameterError
from taylorank.losses.registry import loss_of
from taylorank.models.factor import FactorModel
from taylorank.objectives.rg import proposal_of


class Logits(NamedTuple):
    """o = P Qᵀ, and the proposal q under which softmax loss is −o_y + log Σ_j q_j e^o_j."""

    users: NDArray[np.float64]  # P, (M, K)
    items: NDArray[np.float64]  # Q, (N, K)
    proposal: NDArray[np.float64]  # q, (N,); uniform where the model has none
    are_logits: bool  # False: the model was not fitted to logits (WRMF, BPR, …)


def logits_of(model: Any) -> Logits:
    """Return the scores of a fitted factor model.

    RG models have their own proposal; from a network that ranks by probability, [u, 1] · [N q v, N q], u, v and q are
    recovered.
    """
    if not isinstance(model, FactorModel):
        raise ParameterError(f"{type(model).__name__} has no factors", "give RG2, RGX, WRMF, IALS, Neural, …")
    P, Q = (factors.astype(np.float64) for factors in (model.user_factors, model.item_factors))
    if hasattr(model, "proposal_"):
        return Logits(P, Q, model.proposal_, True)
    loss = loss_of(model)
    if loss is not None and loss.scores_estimate == "lifts":
        options = {**loss.options, **(model.get_params()["options"] or {})}
        return _network(P, Q, options, model.item_popularity)
    return Logits(P, Q, np.full(len(Q), 1 / len(Q)), loss is not None and loss.scores_estimate == "log-odds")


def _network(
    P: NDArray[np.float64], Q: NDArray[np.float64], options: Mapping[str, Any], popularity: NDArray[np.float64]
) -> Logits:
    if options["ranking"] == "lift":
        return Logits(P, Q, proposal_of(popularity, options["proposal_exponent"]), True)
    scale = Q[:, -1:]
    return Logits(P[:, :-1], Q[:, :-1] / scale, scale[:, 0] / scale.sum(), True)
