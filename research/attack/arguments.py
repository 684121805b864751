"""Every argument of what users call, with values that it does not expect."""

from __future__ import annotations

import functools
import inspect
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_type_hints

import polars as pl

import taylorank as tr
from research.attack import Difference, Fault
from research.attack.values import VALUES, fits, said
from taylorank.data import Interactions
from taylorank.errors import TaylorankError, in_one_line

FREE = ("progress", "command", "name", "y")  # what is only shown or kept
TEXT = b"user,item,rating,time\n1,2,5,10\n1,3,4,11\n2,2,3,12\n3,9,1,13\n"


@functools.cache
def _data() -> Interactions:
    return tr.planted(30, 20, interactions=200, random_state=0)


@functools.cache
def _model(name: str) -> Any:
    return getattr(tr, name)(3).fit(_data()) if name != "Popularity" else tr.Popularity().fit(_data())


def _log(folder: Path) -> Path:
    (folder / "log.csv").write_bytes(TEXT)
    return folder / "log.csv"


Call = tuple[Callable[..., Any], dict[str, Any]]


def _of_models(rng: random.Random, folder: Path) -> Call:
    model, data = _model(rng.choice(("RG2", "IALS", "ItemKNN", "Popularity", "EASE"))), _data()
    calls: list[Call] = [
        (model.recommend, {"users": [0, 1]}),
        (model.recommend, {"users": [0, 99], "cold": "popularity"}),
        (model.explain, {"user": 0, "item": 3}),
        (lambda file, **more: model.save(file, **more), {"file": folder / "m.tr"}),
        (tr.load, {"path": folder / "m.tr"}),
        (tr.evaluate, {"model": model, "test": data, "seen": [], "resamples": 5}),
        (tr.evaluate, {"model": model, "test": data, "seen": [], "confidence": 0.9, "resamples": 5}),
    ]
    if hasattr(model, "similar_items"):
        calls.append((model.similar_items, {"items": [1, 2]}))
    if hasattr(model, "fold_in"):
        calls.append((model.fold_in, {"histories": data}))
    if hasattr(model, "path"):
        calls.append((lambda **given: list(model.path(**given)), {"factors": [1, 2], "regularization": [0.1]}))
    if hasattr(model, "partial_fit"):
        calls.append((tr.IALS(3, iterations=2).fit(data).partial_fit, {"data": data}))
    if hasattr(model, "distil"):
        calls.append((model.export, {"kind": "parquet", "target": folder / "shop"}))
    return rng.choice(calls)


def _of_data(rng: random.Random, folder: Path) -> Call:
    data, frame = _data(), pl.DataFrame({"user": [1, 1, 2], "item": [1, 2, 1], "rating": [1, 2, 3], "time": [1, 2, 3]})
    timed = tr.read_interactions(frame, timestamp="time")
    pairs = {"users": [1, 1, 2], "items": [1, 2, 1]}
    calls: list[Call] = [
        (tr.read_interactions, {"source": _log(folder)}),
        (tr.read_interactions, {"source": _log(folder)}),
        (tr.read_interactions, {"source": frame}),
        (tr.read_interactions, {"source": [(1, 2), (3, 4)]}),
        (Interactions.from_arrays, pairs),
        (Interactions.from_arrays, {**pairs, "strengths": [1, 2, 3], "timestamps": [1, 2, 3]}),
        (Interactions.from_matrix, {"matrix": data.matrix}),
        (Interactions.load_npz, {"path": folder / "log.npz"}),
        (data.save_npz, {"path": folder / "log.npz"}),
        (data.core, {"k": 2}),
        (data.split, {}),
        (data.split_last, {}),
        (timed.split_last, {}),
        (timed.split_time, {}),
        (data.split_users, {}),
        (data.items_of, {"user": 1}),
        (data.to_frame, {}),
        (tr.planted, {"n_users": 20, "n_items": 10, "interactions": 50}),
    ]
    return rng.choice(calls)


def _of_choosing(rng: random.Random, folder: Path) -> Call:
    data = _data()
    train, valid = data.split((0.8, 0.2))
    calls: list[Call] = [
        (tr.tune, {"model": "itemknn", "train": train, "valid": valid, "trials": 1}),
        (tr.compare, {"data": data, "models": ["popularity"], "trials": 0, "seeds": [0]}),
        (tr.diagnose, {"model": _model("RG2"), "data": data, "seen": [], "users": 5}),
        (tr.IALS(3, iterations=2).fit, {"train": train, "valid": valid}),
        (tr.RG2(3, solver="als", iterations=2).fit, {"train": train}),
    ]
    return rng.choice(calls)


def attack(rng: random.Random, folder: Path) -> str:
    """Call a function with one argument of another kind: a result, or one line; of another type, one line."""
    maker = rng.choice((_of_models, _of_data, _of_data, _of_choosing))
    function, given = maker(rng, folder)
    hints = _hints(function)
    names = [name for name in (*given, *hints) if name not in (*FREE, "return", "self")]
    name, value = rng.choice(names), rng.choice(VALUES)
    if isinstance(value, int) and value > 2**20 and name in ("resamples", "interactions", "n_users", "n_items", "n"):
        value = 10**400  # a long time, and all of it asked for
    if name in ("seconds", "patience", "trials", "sweeps") and not isinstance(value, str):
        value = rng.choice(("x", True, -1))  # others would take as long as they say
    try:
        function(**{**given, name: value})
    except TaylorankError:
        raise
    except Exception as error:
        raise Fault(f"{_named(function)}({name}={said(value)}): {in_one_line(error)}") from error
    if not fits(value, hints.get(name, Any)):
        raise Difference(f"{_named(function)}({name}={said(value)}) is taken")
    return "result"


def _named(function: Any) -> str:
    return str(getattr(function, "__qualname__", function))


def _hints(function: Callable[..., Any]) -> dict[str, Any]:
    """Return the types of the arguments that can be given by name; those that cannot be told are left open."""
    kinds = inspect.signature(function).parameters
    try:
        known = get_type_hints(function)
    except NameError:  # a type that is imported for its name alone
        known = {}
    by_name = {name for name, one in kinds.items() if one.kind in (one.POSITIONAL_OR_KEYWORD, one.KEYWORD_ONLY)}
    return {name: known.get(name, Any) for name in kinds if name in by_name}
