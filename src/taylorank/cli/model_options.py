"""Options of `taylorank train` that belong to models: the parameters of every constructor, gathered once."""

from __future__ import annotations

import inspect
from dataclasses import asdict, field, make_dataclass
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args, get_origin, get_type_hints

from cyclopts import Group, Parameter

from taylorank.errors import ParameterError
from taylorank.models.recommender import Recommender
from taylorank.models.registry import MODELS, model_class

# What each parameter means, in a line; the models' docstrings say more.
MEANINGS = {
    "factors": "Rank of the model.",
    "regularization": "RG: share of σ₁ taken from all singular values, in [0, 1). Others: their own λ.",
    "proposal_exponent": "Exponent of item popularity in the proposal.",
    "context_exponent": "Exponent of user activity in the weights.",
    "ranking": "Rank by probability, or by lift, which favours the niche.",
    "popularity_discount": "Rank by probability / popularity^discount.",
    "score_penalty": "Draw the scores of users with little history towards the proposal.",
    "negatives": "Draws from the proposal for each observed pair.",
    "solver": "How to solve.",
    "tolerance": "When to stop; 0 runs to the end.",
    "max_passes": "Stop the SVD early: a smoother model than the optimum.",
    "iterations": "Most sweeps.",
    "alpha": "Extra weight of an observed pair (WRMF: 1 + alpha · strength).",
    "beta": "Share that is taken from the Gram matrix.",
    "variant": "Which of the two released losses.",
    "unobserved_weight": "Weight of all pairs.",
    "nu": "Exponent of the frequency in the penalty.",
    "neighbours": "How many neighbours each item keeps.",
    "shrink": "Added to the product of norms in a cosine.",
    "max_items": "Refuse data with more items.",
}
OF_THE_COMMAND = ("random_state", "num_threads")  # --seed and --num-threads are for every model
GROUP = Group("Model options", help="Defaults by model; an option that the chosen model does not have is refused.")


def parameters_of(kind: type[Recommender]) -> list[str]:
    """Return the names of the options that a model takes."""
    return [name for name in inspect.signature(kind).parameters if name not in OF_THE_COMMAND]


def _option(name: str) -> tuple[str, Any, Any]:
    """One option for all models that have it: (name, type with help, field)."""
    takers = {model: kind for model, kind in MODELS.items() if name in parameters_of(kind)}
    kinds = [get_type_hints(kind.__init__)[name] for kind in takers.values()]
    choices = [choice for kind in kinds if get_origin(kind) is Literal for choice in get_args(kind)]
    merged = Literal[tuple(dict.fromkeys(choices))] if choices else reduce(or_, kinds)
    by_default: dict[Any, list[str]] = {}
    for model, kind in takers.items():
        by_default.setdefault(inspect.signature(kind).parameters[name].default, []).append(model)
    told = "; ".join(f"{', '.join(models)}: {default}" for default, models in by_default.items())
    words = Parameter(help=f"{MEANINGS.get(name, '')} [{told}]".strip(), group=GROUP, negative=())
    return name, Annotated[merged | None, words], field(default=None)


if TYPE_CHECKING:
    ModelOptions = Any
else:
    _names = dict.fromkeys(name for kind in MODELS.values() for name in parameters_of(kind))
    ModelOptions = Parameter(name="*")(make_dataclass("ModelOptions", [_option(name) for name in _names], frozen=True))
    ModelOptions.__module__ = __name__  # Python 3.11 says "types", which cyclopts takes for a built-in

NO_MODEL_OPTIONS = ModelOptions()


def make_model(name: str, options: ModelOptions, *, seed: int) -> Recommender:
    """Return the unfitted model called `name`; refuse options that it does not have, and say which it has."""
    kind = model_class(name)
    given = {key: value for key, value in asdict(options).items() if value is not None}
    foreign = [key for key in given if key not in parameters_of(kind)]
    if foreign:
        known = ", ".join(_flag(key) for key in parameters_of(kind)) or "none"
        raise ParameterError(f"{name} has no option {_flag(foreign[0])}", f"its options: {known}")
    if "random_state" in inspect.signature(kind).parameters:
        given["random_state"] = seed
    return kind(**given)


def _flag(name: str) -> str:
    return "--" + name.replace("_", "-")
