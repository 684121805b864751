"""Options of `taylorank train` that belong to models: the parameters of every constructor, collected once."""

from __future__ import annotations

import inspect
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, field, make_dataclass
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args, get_origin, get_type_hints

from cyclopts import Group, Parameter

from taylorank import backbones, losses, samplers
from taylorank.errors import ParameterError
from taylorank.models.recommender import Recommender
from taylorank.registry import MODELS, model_class, model_named
from taylorank.training.composition import newton_losses

# Each parameter in one line; the models' docstrings explain more.
MEANINGS = {
    "factors": "Rank: length of the user and item vectors. RG2 and RGX: by the size of the data if not given.",
    "regularization": "RG models: soft threshold of the singular values as a share of the largest, in [0, 1); "
    "with --penalty plain λ; by the density of the data if not given. "
    "Others: λ of their objective; neural also takes auto, a value by loss and backbone.",
    "proposal_exponent": "Exponent γ of item popularity in the proposal distribution.",
    "context_exponent": "Exponent ρ of user activity in the weights of users.",
    "ranking": "Rank by probability, or by lift (probability / proposal), which favours rare items.",
    "popularity_discount": "Rank by probability / popularity^discount.",
    "penalty": "weighted: each factor by the weight of its row; plain: λ (‖P‖² + ‖Q‖²), regularization being λ.",
    "weights": "Sampled RG: expected over the draws, or as the papers print them.",
    "half_life": "Strengths halve with every so many days (or places in a sequence). If not given, they do not fade.",
    "score_penalty": "Shrink the scores of users with little history towards the proposal.",
    "negatives": "Number of negatives drawn from the proposal for each observed pair.",
    "solver": "Algorithm of the fit.",
    "tolerance": "Accuracy at which the fit stops; 0 runs all iterations.",
    "max_passes": "Maximum number of passes of the SVD; stopped early, the model is not the optimum.",
    "iterations": "Maximum number of sweeps.",
    "alpha": "Extra weight of an observed pair (WRMF: weight 1 + alpha · strength).",
    "beta": "Share β that is subtracted from the Gram matrix.",
    "variant": "Which of the two released losses.",
    "unobserved_weight": "Weight of all pairs, observed or not.",
    "nu": "Exponent ν of the frequency in the penalty.",
    "neighbours": "Number of neighbours that each item keeps.",
    "shrink": "Added to the product of norms in the cosine; items with few users get smaller similarities.",
    "max_items": "Refuse data with more items. If not given, with more than free memory holds.",
    "loss": f"Loss: {', '.join(losses.names())}.",
    "backbone": f"Encoder of users and items: {', '.join(backbones.names())}.",
    "sampler": f"How negatives are drawn: {', '.join(samplers.names())}. If not given, by the loss.",
    "temperature": "Scores are cosines divided by the temperature. If not given, inner products.",
    "learning_rate": "Initial learning rate.",
    "weight_decay": "Weight decay of the optimiser, on all parameters.",
    "epochs": "Number of passes over the data.",
    "batch_size": "Users in a step for losses over all items; pairs in a step for losses with drawn negatives.",
    "optimizer": f"Optimiser: adam, adamw, sgd, sparse-adam, or newton (losses {', '.join(newton_losses())}).",
    "schedule": "Learning rate over time: cosine or constant.",
    "precision": "float32, bfloat16 for mixed precision, or float64 (newton).",
    "compile": "Compile the training step with torch.compile.",
    "device": "Where to compute; auto: on a CUDA device where torch sees one.",
    "top": "Number of items of each user that the teacher lists.",
    "sharpness": "Exponent of the teacher's scores: above 1 the best items count for more.",
    "bias": "Whether items have a bias.",
    "normalize": "Whether vectors have length 1, so that scores are cosines; else inner products.",
    "mix": "Share of the users' own items in what a student learns, beside the teacher's lists.",
    "steps": "Least number of steps; few users are taught in smaller batches and more epochs.",
}
OF_THE_COMMAND = ("random_state", "num_threads", "options", "teacher")  # --seed, --num-threads; the others by --set
GROUP = Group("Model options", help="In brackets: the models that have the option, and its default.", sort_key=2)


def parameters_of(kind: type[Recommender]) -> list[str]:
    """Return the names of the options that a model has."""
    return [name for name in inspect.signature(kind).parameters if name not in OF_THE_COMMAND]


def _option(name: str) -> tuple[str, Any, Any]:
    """One option for all models that have it: (name, type with help, field)."""
    models = {model: kind for model, kind in MODELS.items() if name in parameters_of(kind)}
    kinds = [get_type_hints(kind.__init__)[name] for kind in models.values()]
    choices = [choice for kind in kinds if get_origin(kind) is Literal for choice in get_args(kind)]
    merged = Literal[tuple(dict.fromkeys(choices))] if choices else reduce(or_, kinds)
    parameter = Parameter(
        help=f"{MEANINGS.get(name, '')} [{_defaults(name, models)}]".strip(),
        group=GROUP,
        negative=(),
    )
    return name, Annotated[merged | None, parameter], field(default=None)


def _defaults(name: str, models: Mapping[str, type[Recommender]]) -> str:
    """Return the models that have a parameter, by its default, which is not shown if None or False.

    >>> _defaults("neighbours", {"itemknn": MODELS["itemknn"]})
    'itemknn: 100'
    """
    by_default: dict[Any, list[str]] = {}
    for model, kind in models.items():
        by_default.setdefault(inspect.signature(kind).parameters[name].default, []).append(model)
    return "; ".join(
        ", ".join(having) + ("" if default is None or default is False else f": {default}")
        for default, having in by_default.items()
    )


if TYPE_CHECKING:
    ModelOptions = Any
else:
    _names = dict.fromkeys(name for kind in MODELS.values() for name in parameters_of(kind))
    ModelOptions = Parameter(name="*")(make_dataclass("ModelOptions", [_option(name) for name in _names], frozen=True))
    ModelOptions.__module__ = __name__  # Python 3.11 says "types", which cyclopts takes for a built-in

NO_MODEL_OPTIONS = ModelOptions()


def default_model(options: ModelOptions) -> str:
    """Return the model that the options belong to: neural if they name a loss, a backbone or a sampler."""
    return "neural" if options.loss or options.backbone or options.sampler else "rg2"


def make_model(
    name: str, model_options: ModelOptions, *, random_state: int, options: Sequence[str] = ()
) -> Recommender:
    """Return the unfitted model called `name`; refuse options that it does not have, and say which it has.

    `options` are of a part of the model, each as "name=value".
    """
    kind = model_class(name)
    given = {key: value for key, value in asdict(model_options).items() if value is not None}
    foreign = [key for key in given if key not in parameters_of(kind)]
    if foreign:
        known = ", ".join(_flag(key) for key in parameters_of(kind)) or "none"
        raise ParameterError(f"{name} has no option {_flag(foreign[0])}", f"its options: {known}")
    own = inspect.signature(kind).parameters
    chosen = dict(_named_value(text) for text in options)
    if "random_state" in own:
        given["random_state"] = random_state
    of_teacher = {key: value for key, value in chosen.items() if key.split(".")[0] == "teacher" and "teacher" in own}
    of_parts = {key: value for key, value in chosen.items() if key not in of_teacher}
    if of_parts and "options" not in own:
        if "teacher" not in own:
            raise ParameterError(f"{name} has no parts with options", "leave out --set")
        raise ParameterError(
            f"--set {next(iter(of_parts))} is not of the teacher",
            "write --set teacher=ease or --set teacher.factors=512",
        )
    return _taught(kind, given | ({"options": of_parts} if of_parts else {}), of_teacher)


def _taught(kind: Any, given: Mapping[str, Any], chosen: Mapping[str, Any]) -> Recommender:
    """Return a model whose teacher, if any, is chosen by --set teacher=NAME and --set teacher.PARAMETER=VALUE."""
    named = {name.replace(".", "__"): value for name, value in chosen.items()}
    if "teacher" in named:
        given = {**given, "teacher": model_named(str(named.pop("teacher")))}
    model: Recommender = kind(**given).set_params(**named)
    return model


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
