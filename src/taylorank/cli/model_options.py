"""Options of `taylorank train` that belong to models: the parameters of every constructor, gathered once."""

from __future__ import annotations

import inspect
import json
from collections.abc import Sequence
from dataclasses import asdict, field, make_dataclass
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args, get_origin, get_type_hints

from cyclopts import Group, Parameter

from taylorank import backbones, losses, samplers
from taylorank.errors import ParameterError
from taylorank.models.recommender import Recommender
from taylorank.registry import MODELS, model_class
from taylorank.training.composition import quadratic_losses

# What each parameter means, in a line; the models' docstrings say more.
MEANINGS = {
    "factors": "Rank of the model.",
    "regularization": "RG: share of σ₁ taken from all singular values, in [0, 1). Others: their own λ. "
    "Neural: or auto, a λ by loss and backbone.",
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
    "max_items": "Refuse data with more items than this; not given: more than free memory holds.",
    "loss": f"Loss: {', '.join(losses.names())}.",
    "backbone": f"What makes the vectors: {', '.join(backbones.names())}.",
    "sampler": f"What draws negatives: {', '.join(samplers.names())}.",
    "temperature": "Scores are cosines divided by it; none: inner products.",
    "learning_rate": "Size of the first steps.",
    "weight_decay": "Of the optimiser, on all parameters.",
    "epochs": "Passes over the data.",
    "batch_size": "Users per step for losses over all items, pairs for losses with draws.",
    "optimizer": f"adam, adamw, sgd, sparse-adam, or newton ({' and '.join(quadratic_losses())}).",
    "schedule": "How the learning rate falls: cosine or constant.",
    "precision": "float32, bfloat16 for mixed precision, or float64 (newton).",
    "compile": "Compile the step with torch.compile.",
    "device": "auto, cpu or cuda.",
}
OF_THE_COMMAND = ("random_state", "num_threads", "options")  # --seed, --num-threads and --set are for every model
GROUP = Group("Model options", help="Defaults by model; an option that the chosen model does not have is refused.")


def parameters_of(kind: type[Recommender]) -> list[str]:
    """Return the names of the options that a model takes."""
    return [name for name in inspect.signature(kind).parameters if name not in OF_THE_COMMAND]


def _option(name: str) -> tuple[str, Any, Any]:
    """One option for all models that have it: (name, type with help, field)."""
    having = {model: kind for model, kind in MODELS.items() if name in parameters_of(kind)}
    kinds = [get_type_hints(kind.__init__)[name] for kind in having.values()]
    choices = [choice for kind in kinds if get_origin(kind) is Literal for choice in get_args(kind)]
    merged = Literal[tuple(dict.fromkeys(choices))] if choices else reduce(or_, kinds)
    by_default: dict[Any, list[str]] = {}
    for model, kind in having.items():
        by_default.setdefault(inspect.signature(kind).parameters[name].default, []).append(model)
    defaults = "; ".join(f"{', '.join(models)}: {default}" for default, models in by_default.items())
    words = Parameter(help=f"{MEANINGS.get(name, '')} [{defaults}]".strip(), group=GROUP, negative=())
    return name, Annotated[merged | None, words], field(default=None)


if TYPE_CHECKING:
    ModelOptions = Any
else:
    _names = dict.fromkeys(name for kind in MODELS.values() for name in parameters_of(kind))
    ModelOptions = Parameter(name="*")(make_dataclass("ModelOptions", [_option(name) for name in _names], frozen=True))
    ModelOptions.__module__ = __name__  # Python 3.11 says "types", which cyclopts takes for a built-in

NO_MODEL_OPTIONS = ModelOptions()


def default_model(options: ModelOptions) -> str:
    """Return the model that the options speak of: neural if they name a loss, a backbone or a sampler."""
    return "neural" if options.loss or options.backbone or options.sampler else "rg2"


def make_model(name: str, model_options: ModelOptions, *, seed: int, options: Sequence[str] = ()) -> Recommender:
    """Return the unfitted model called `name`; refuse options that it does not have, and say which it has.

    `options` are of a part of the model, each as "name=value".
    """
    kind = model_class(name)
    given = {key: value for key, value in asdict(model_options).items() if value is not None}
    foreign = [key for key in given if key not in parameters_of(kind)]
    if foreign:
        known = ", ".join(_flag(key) for key in parameters_of(kind)) or "none"
        raise ParameterError(f"{name} has no option {_flag(foreign[0])}", f"its options: {known}")
    if options:
        if "options" not in inspect.signature(kind).parameters:
            raise ParameterError(f"{name} has no parts with options", "leave out --set")
        given["options"] = dict(_named_value(text) for text in options)
    if "random_state" in inspect.signature(kind).parameters:
        given["random_state"] = seed
    return kind(**given)


def _named_value(text: str) -> tuple[str, Any]:
    """Read name=value; the value is a number, true, false or null where it looks like one, else text."""
    name, equals, value = text.partition("=")
    if not (name and equals):
        raise ParameterError(f"--set {text} has no value", "write --set name=value")
    try:
        return name.replace("-", "_"), json.loads(value)
    except ValueError:
        return name.replace("-", "_"), value


def _flag(name: str) -> str:
    return "--" + name.replace("_", "-")
