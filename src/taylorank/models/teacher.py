"""The teacher of a student: fitted where it is not, described in a file, made again from its description."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from taylorank.data import CSR, Ids, Interactions
from taylorank.errors import DataError, ParameterError
from taylorank.models.parameters import OF_THE_MACHINE, parameter_names, settled_params
from taylorank.models.recommender import Recommender
from taylorank.models.training_record import TrainingRecord
from taylorank.ranking.ranker import ranker_of

NESTED = "teacher__"


def unfitted(teacher: Any) -> Any:
    """Return a copy with the same parameters that is not fitted."""
    if not hasattr(teacher, "get_params"):
        raise ParameterError(f"{type(teacher).__name__} has no parameters", "give a model with get_params")
    return type(teacher)(**teacher.get_params(deep=False))


def nested_params(own: dict[str, Any], teacher: Any) -> dict[str, Any]:
    """Return the parameters of a model with those of its teacher as teacher__name."""
    if not hasattr(teacher, "get_params"):
        return own
    return own | {f"{NESTED}{name}": value for name, value in teacher.get_params().items()}


def set_nested(model: Any, params: Mapping[str, Any]) -> dict[str, Any]:
    """Set parameters of the teacher, which makes it a new, unfitted one; return the parameters of the model itself."""
    nested = {name.removeprefix(NESTED): value for name, value in params.items() if name.startswith(NESTED)}
    own = {name: value for name, value in params.items() if not name.startswith(NESTED)}
    teacher = own.get("teacher", getattr(model, "teacher", None))
    if nested and teacher is None:
        raise ParameterError(f"there is no teacher to have {next(iter(nested))!r}", "give a teacher, such as RG2")
    return own | {"teacher": unfitted(teacher).set_params(**nested)} if nested else own


def fitted_teacher(teacher: Any, data: Interactions) -> Any:
    """Return the teacher of the users of `data`: itself if it was fitted to them or folded them in, else a fitted copy.

    A model from outside that is only a `ranker` has to be of these users and items.
    """
    if _knows(teacher, data):
        return teacher
    if not hasattr(teacher, "fit") or not hasattr(teacher, "get_params"):
        raise ParameterError(
            f"the teacher {type(teacher).__name__} is not of the users and items of this data",
            "fit it to the same data, or give a model with fit and get_params",
        )
    fresh = unfitted(teacher)
    most = min(data.n_users, data.n_items)
    if (fresh.get_params(deep=False).get("factors") or 0) > most:
        fresh.set_params(factors=most)
    return fresh.fit(data)


def _knows(teacher: Any, data: Interactions) -> bool:
    if isinstance(teacher, Recommender):
        seen = teacher.__dict__.get("train_")
        return seen is not None and (seen is data or _print_of(seen) == _print_of(data))
    try:
        ranker = ranker_of(teacher)
    except (AttributeError, ParameterError):
        return False
    return ranker.users == data.users and ranker.items == data.items


def _print_of(data: Interactions) -> str:
    return TrainingRecord(data).fingerprint


def settled_teacher(teacher: Any) -> dict[str, Any]:
    """Return the name and the parameters of a teacher, without those of the machine."""
    params = settled_params(teacher) if hasattr(teacher, "get_params") else {}
    kept = {name: value for name, value in params.items() if name not in OF_THE_MACHINE}
    return {"model": type(teacher).__name__, **kept}


def from_settled(settled: Mapping[str, Any]) -> Any:
    """Return the unfitted teacher that `settled_teacher` described; None for one from outside this library."""
    import taylorank

    params = dict(settled)
    name = params.pop("model")
    kind = getattr(taylorank, name, None)
    if not (isinstance(kind, type) and issubclass(kind, Recommender)):
        return None
    unknown = [parameter for parameter in params if parameter not in parameter_names(kind)]
    if unknown:
        raise DataError(f"{name} has no parameter {unknown[0]!r} here", "update taylorank")
    return kind.from_settled(params)


def without_users(teacher: Recommender) -> Recommender:
    """Return a teacher that knows no users and can fold in new ones."""
    nobody = Interactions(
        CSR(np.zeros(1, dtype=np.int64), np.zeros(0, dtype=np.int32), None, len(teacher.items)),
        Ids(teacher.users.values[:0]),
        teacher.items,
    )
    model = teacher._for_others(nobody)
    for name, axes in model.learned_shapes.items():
        if axes[:1] == ("users",):
            setattr(model, name, getattr(model, name)[:0])
    return model
