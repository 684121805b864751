"""The parameters of a model: the arguments of its `__init__`, which only stores them, and what they must be."""

from __future__ import annotations

import inspect
from typing import Any

from taylorank.checks import check_number, check_whole
from taylorank.errors import ParameterError, shown

OF_THE_MACHINE = ("num_threads", "device")  # parameters that say where to compute, not what
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
TEXTS = (
    *("solver", "penalty", "ranking", "weights", "variant"),
    *("backbone", "sampler", "optimizer", "schedule", "precision"),  # a loss is looked up first
)
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
    "half_life": 0.0,
    "popularity_discount": float("-inf"),
    "proposal_exponent": float("-inf"),
    "context_exponent": float("-inf"),
    "learning_rate": 0.0,
    "weight_decay": 0.0,
    "temperature": 0.0,
}


def parameter_names(kind: type) -> list[str]:
    """Return the names of the parameters of a model class."""
    return list(inspect.signature(kind).parameters)


def unset_by_default(kind: type) -> list[str]:
    """Return the parameters of a model class whose default is None."""
    return [name for name, one in inspect.signature(kind).parameters.items() if one.default is None]


def parameters_of(model: Any) -> dict[str, Any]:
    """Return the parameters of a model by name."""
    return {name: getattr(model, name) for name in parameter_names(type(model))}


def set_parameters(model: Any, given: dict[str, Any]) -> None:
    """Set parameters by name; refuse those that the model does not have."""
    names = parameter_names(type(model))
    for name, value in given.items():
        if name not in names:
            known = ", ".join(names) or "none"
            raise ParameterError(f"{type(model).__name__} has no parameter {name!r}", f"its parameters: {known}")
        setattr(model, name, value)


def settled_params(model: Any) -> dict[str, Any]:
    """Return the parameters of any model; those of this library have numbers in the place of "auto"."""
    params: dict[str, Any] = model.settled_params() if hasattr(model, "settled_params") else model.get_params()
    return params


def check_parameters(model: Any) -> None:
    """Raise `ParameterError` for a count that is not one, or a number that is missing, infinite or too small."""
    for name, value in parameters_of(model).items():
        if name in TEXTS and not isinstance(value, str | None):  # not all can be looked up
            raise ParameterError(f"{name}={shown(value)} is no text", "give a name; the documentation lists them")
    for name, value in model.settled_params().items():
        if value is None and (name in MAY_BE_NONE or name in unset_by_default(type(model))):
            continue
        if name in LEAST_COUNTS:
            check_whole(value, name, least=LEAST_COUNTS[name])
        elif name in LEAST_NUMBERS:
            check_number(value, name, least=LEAST_NUMBERS[name])
