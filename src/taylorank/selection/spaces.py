"""Where to search: a range or a choice for each parameter, and the default for each model."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from typing import Any

from taylorank import losses, samplers
from taylorank.data import Interactions
from taylorank.errors import ParameterError
from taylorank.models.parameters import settled_params
from taylorank.models.recommender import Recommender
from taylorank.selection.ranges import Choice, Range, Space

RANKS = Choice((8, 16, 32, 64, 128, 256, 384, 512, 768, 1024))  # of every model with factors, cut to the data

_RG: dict[str, Range | Choice] = {
    "factors": RANKS,
    "regularization": Choice((0.0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8)),
    "proposal_exponent": Range(0.0, 1.0),
    "context_exponent": Range(0.6, 2.0),
    "popularity_discount": Choice((0.0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4)),
}
_SAMPLED: dict[str, Range | Choice] = {
    "factors": RANKS,
    "regularization": Range(1e-4, 1.0, log=True),
    "proposal_exponent": Range(0.0, 1.0),
    "context_exponent": Range(0.6, 1.4),
    "negatives": Range(3, 3000, log=True, integer=True),
    "popularity_discount": Range(0.0, 0.4),
}

# A model's name in `taylorank.registry` → what `tune` tries by default.
SPACES: dict[str, Space] = {
    "rg2": _RG,
    "rgx": _RG,
    "sampled-rg2": _SAMPLED,
    "sampled-rgx": _SAMPLED,
    "released-rg": {
        "factors": RANKS,
        "alpha": Range(1e-3, 10.0, log=True),
        "beta": Range(0.0, 0.9),
        "regularization": Range(1e-4, 1.0, log=True),
    },
    "wrmf": {
        "factors": RANKS,
        "alpha": Range(0.5, 100.0, log=True),
        "regularization": Range(0.1, 300.0, log=True),
    },
    "ials": {
        "factors": RANKS,
        "unobserved_weight": Range(0.003, 3.0, log=True),
        "regularization": Range(1e-4, 0.1, log=True),
        "nu": Range(0.0, 1.0),
    },
    "ease": {"regularization": Range(1.0, 10_000.0, log=True)},
    "itemknn": {"neighbours": Range(5, 1000, log=True, integer=True), "shrink": Range(0.1, 1000.0, log=True)},
    "popularity": {},
    "distilled": {
        "sharpness": Choice((0.7, 1.0, 1.25, 1.5, 2.0)),
        "temperature": Range(0.05, 0.2, log=True),
        "top": Choice((100, 200, 500, 1000)),
    },
}


FEWEST_EPOCHS = 8  # an eighth of the model's epochs is the least that is tried


def neural_space(model: Any) -> Space:
    """Return what `tune` tries for a composition of loss, backbone and sampler; options that are set stay as they are.

    >>> from taylorank.training import Neural
    >>> list(neural_space(Neural("sml")))
    ['learning_rate', 'regularization', 'epochs', 'negatives']
    """
    loss = losses.get(model.loss)
    space: dict[str, Range | Choice] = {
        "learning_rate": Range(1e-3, 0.1, log=True),
        "regularization": Range(1e-5, 0.3, log=True),
    }
    if model.optimizer == "newton":  # which has no rate
        del space["learning_rate"]
    elif model.epochs >= FEWEST_EPOCHS:  # fewer epochs stop early with a complete schedule
        space["epochs"] = Range(model.epochs // FEWEST_EPOCHS, model.epochs, log=True, integer=True)
    if loss.temperatures:
        space["temperature"] = Choice(loss.temperatures)
    if loss.draws and (model.sampler is None or samplers.get(model.sampler).takes_count):
        space["negatives"] = Choice((8, 32, 128))
    if loss.options_to_search and not model.options:
        space["options"] = Choice(loss.options_to_search)
    return space


# The same for models whose space depends on their parameters.
SPACES_BY_MODEL: dict[str, Callable[[Any], Space]] = {"neural": neural_space}


def default_space(name: str, model: Recommender) -> Space:
    """Return what `tune` tries for a model, called `name` in the registry, if it is given no space."""
    if name in SPACES_BY_MODEL:
        return SPACES_BY_MODEL[name](model)
    if name not in SPACES:
        raise ParameterError(f"{name} has no default space", "give space={parameter: Range(…), …}")
    own = model.get_params()
    return {parameter: part for parameter, part in SPACES[name].items() if parameter in own}


def cut_ranks(space: Space, train: Interactions) -> Space:
    """Return the space with no more factors than the data has users and items."""
    part, most = space.get("factors"), largest_rank(train)
    if isinstance(part, Range):
        return {**space, "factors": replace(part, low=min(part.low, most), high=min(part.high, most))}
    if part is None or not all(_is_number(value) for value in part.values):
        return space
    return {**space, "factors": Choice(tuple(dict.fromkeys(min(int(value), most) for value in part.values)))}


def cut_model(model: Any, train: Interactions) -> Any:
    """Return the model with no more factors than the data has users and items, if it refuses more; else itself."""
    if not getattr(model, "bounded_rank", False) or (model.factors or 0) <= largest_rank(train):
        return model
    return copy.copy(model).set_params(factors=largest_rank(train))


def cut_lines(space: Space, model: Any, train: Interactions) -> list[str]:
    """Return a line if `cut_ranks` or, where the ranks are not searched, `cut_model` changes anything."""
    part = space.get("factors")
    is_cut = cut_model(model, train) is not model if part is None else cut_ranks(space, train)["factors"] != part
    return [f"ranks above {largest_rank(train)}, the smaller side of the data, were cut to it"] if is_cut else []


def largest_rank(train: Interactions) -> int:
    """Return the rank that a matrix of this data has at most."""
    return min(train.n_users, train.n_items)


def check_space(space: Space, model: Recommender) -> None:
    """Refuse parameters that the model does not have, and what is neither a range nor a choice."""
    own = model.get_params()
    for parameter, part in space.items():
        if parameter not in own:
            known = ", ".join(own) or "none"
            raise ParameterError(f"{type(model).__name__} has no parameter {parameter!r}", f"its parameters: {known}")
        if not isinstance(part, Range | Choice):
            raise ParameterError(
                f"space has {part!r} for {parameter}", "write Choice((…)), Range(low, high) or Int(low, high)"
            )


def described(space: Space) -> dict[str, Any]:
    """Return the space as JSON holds it."""
    return {name: {"kind": type(part).__name__.lower(), **_plain(part)} for name, part in space.items()}


def _plain(part: Range | Choice) -> dict[str, Any]:
    return {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(part).items()}


def lattice(part: Range | Choice, count: int = 9) -> list[Any]:
    """Return the values to step through: those of a choice, in order if they are numbers, or `count` of a range."""
    if isinstance(part, Range):
        return part.spread(count)
    return sorted(part.values) if all(_is_number(value) for value in part.values) else list(part.values)


def nearest(values: list[Any], wanted: Any) -> Any:
    """Return the member of `values` that is `wanted`, or the nearest number, or the last.

    Of mappings the nearest is that with the fewest other values than `wanted`, then with the nearest ones.

    >>> nearest([0.2, 0.5, 1.0], 0.6), nearest(["a", "b"], "a"), nearest([0.5, 1.0], "probability")
    (0.5, 'a', 1.0)
    >>> nearest([{"weight": 1.0}, {"weight": 4.0}, {"weight": 16.0}], {"weight": 3.0, "margin": 1.0})
    {'weight': 4.0}
    """
    if wanted in values:
        return wanted
    mappings = [value for value in values if isinstance(value, Mapping)]
    if mappings and isinstance(wanted, Mapping):
        return min(mappings, key=lambda value: _distance(value, wanted))
    numbers = [value for value in values if _is_number(value)]
    if not numbers or not _is_number(wanted):
        return values[-1]
    return min(numbers, key=lambda value: abs(value - wanted))


def within(part: Range | Choice, wanted: Any) -> Any:
    """Return the value of `part` that is nearest to `wanted`.

    >>> within(Range(0.1, 1.0), 3.0), within(Range(1, 9, integer=True), 4), within(Choice((32, 64)), 50)
    (1.0, 4, 64)
    """
    if isinstance(part, Choice):
        return nearest(list(part.values), wanted)
    if not _is_number(wanted):
        return part.low
    held = min(max(wanted, part.low), part.high)
    return int(held) if part.integer else float(held)


def own_values(model: Any) -> dict[str, Any]:
    """Return the model's parameters as they take effect; options of a loss that are not set have their defaults."""
    values = settled_params(model)
    if "loss" in values and not values.get("options", True):
        values = {**values, "options": dict(losses.get(model.loss).options)}
    return values


def _distance(value: Mapping[str, Any], wanted: Mapping[str, Any]) -> tuple[int, float]:
    """How many entries of `value` are others than in `wanted`, and Σ |difference| over those that are numbers."""
    others = [(part, wanted.get(name)) for name, part in value.items() if part != wanted.get(name)]
    return len(others), sum(abs(a - b) for a, b in others if _is_number(a) and _is_number(b))


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
