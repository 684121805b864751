"""What the parameters of all models must be; a name means the same kind of number in each."""

from __future__ import annotations

from taylorank.checks import check_number, check_whole
from taylorank.models.estimator import Estimator

LEAST_COUNTS = {
    "factors": 1,
    "iterations": 1,
    "neighbours": 1,
    "max_items": 1,
    "max_passes": 1,
    "random_state": 0,
    "num_threads": 1,
    "epochs": 1,
    "batch_size": 1,
}
MAY_BE_NONE = ("max_items", "max_passes", "random_state", "num_threads", "batch_size", "temperature")
LEAST_NUMBERS = {
    "regularization": 0.0,
    "tolerance": 0.0,
    "alpha": 0.0,
    "unobserved_weight": 0.0,
    "nu": 0.0,
    "shrink": 0.0,
    "beta": 0.0,
    "negatives": 0.0,
    "score_penalty": 0.0,
    "popularity_discount": float("-inf"),
    "proposal_exponent": float("-inf"),
    "context_exponent": float("-inf"),
    "learning_rate": 0.0,
    "weight_decay": 0.0,
    "temperature": 0.0,
}


def check_parameters(model: Estimator) -> None:
    """Raise `ParameterError` for a count that is none, or a number that is missing, infinite or too small."""
    for name, value in model.settled_params().items():
        if value is None and name in MAY_BE_NONE:
            continue
        if name in LEAST_COUNTS:
            check_whole(value, name, least=LEAST_COUNTS[name])
        elif name in LEAST_NUMBERS:
            check_number(value, name, least=LEAST_NUMBERS[name])
