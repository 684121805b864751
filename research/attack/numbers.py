"""Data at the edge of what a model can be fitted to: finite factors and whole lists, or an error with its remedy.

One user, one item, identical users, parts that nobody joins, power laws, strengths of any size, fewer directions than
factors, items that were seen once, ids of 400 digits; for every model of the registry, with its own and odd parameters.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import taylorank as tr
from research.attack import Difference
from taylorank.data import Interactions
from taylorank.errors import TaylorankError
from taylorank.registry import MODELS

Rng = np.random.Generator
Pairs = tuple[NDArray[Any], NDArray[Any]]
SMALL = {"iterations": 3, "epochs": 2, "steps": 20, "batch_size": 64}
FACTORS = (1, 2, 5, 16, 40)
NEIGHBOURS = (1, 2, 7, 64, 1000)
LONG = 10**400
SEEN_ONCE = 100_000  # items


def attack(seed: int, folder: Path) -> str:
    """Fit one model to one set of data and ask it for all that it can say."""
    rng = np.random.default_rng(seed)
    data = odd_data(rng)
    name = str(rng.choice([*MODELS]))
    model = MODELS[name](**_parameters(name, min(data.n_users, data.n_items), rng)).fit(data)
    _check_factors(name, model)
    _check_lists(name, model, data, rng)
    _check_others(name, model, data, rng)
    return "result"


def odd_data(rng: Rng) -> Interactions:
    """Return interactions of an odd shape with odd strengths."""
    if rng.random() < 0.02:
        items = np.arange(SEEN_ONCE)
        return Interactions.from_arrays(items % 50, items)
    makers = (_one_user, _one_item, _one_pair, _identical, _apart, _power_law, _few_directions, _everything, _once)
    users, items = makers[rng.integers(len(makers))](rng)
    ids: tuple[Any, Any] = (users, items)
    if rng.random() < 0.15:  # as numbers they would be refused: ids are 64 bits, or text
        ids = ([str(LONG + user) for user in users.tolist()], [str(LONG * 7 + item) for item in items.tolist()])
    return Interactions.from_arrays(*ids, strengths=_strengths(rng, len(users)))


def _strengths(rng: Rng, count: int) -> NDArray[Any] | None:
    way = rng.integers(5)
    if way == 0:
        return None
    if way == 1:
        return np.full(count, 10.0 ** rng.uniform(-30, 30))
    if way == 2:
        return 10.0 ** rng.uniform(-30, 30, count)
    if way == 3:
        return rng.choice([1e-30, 1.0, 1e30], count)
    return rng.integers(1, 6, count).astype(float)


def _one_user(rng: Rng) -> Pairs:
    items = np.arange(int(rng.integers(1, 40)))
    return np.zeros(len(items), dtype=int), items


def _one_item(rng: Rng) -> Pairs:
    return _one_user(rng)[::-1]


def _one_pair(rng: Rng) -> Pairs:
    return np.array([7]), np.array([3])


def _identical(rng: Rng) -> Pairs:
    users, items = int(rng.integers(2, 40)), int(rng.integers(1, 10))
    return np.repeat(np.arange(users), items), np.tile(np.arange(items), users)


def _apart(rng: Rng) -> Pairs:
    """Parts of users and items that share nothing."""
    parts, size = int(rng.integers(2, 8)), int(rng.integers(1, 8))
    cells = np.kron(np.eye(parts), rng.random((size, size + 1)) < 0.7)
    users, items = np.nonzero(cells)
    return (users, items) if len(users) else _one_pair(rng)


def _power_law(rng: Rng) -> Pairs:
    count, exponent = int(rng.integers(50, 3000)), rng.uniform(1.05, 3)
    users, items = rng.zipf(exponent, (2, count))
    return users % 300, items % 200


def _few_directions(rng: Rng) -> Pairs:
    """Users of a few kinds: the matrix has fewer directions than most models have factors."""
    kinds = rng.random((int(rng.integers(1, 4)), int(rng.integers(3, 30)))) < 0.4
    kinds[:, 0] = True
    users, items = np.nonzero(kinds[rng.integers(len(kinds), size=int(rng.integers(2, 60)))])
    return users, items


def _everything(rng: Rng) -> Pairs:
    """Everyone has met everything: nothing is left to recommend."""
    users, items = int(rng.integers(1, 20)), int(rng.integers(1, 20))
    return np.repeat(np.arange(users), items), np.tile(np.arange(items), users)


def _once(rng: Rng) -> Pairs:
    items = np.arange(int(rng.integers(2, 400)))
    return rng.integers(0, 1 + len(items) // 4, len(items)), items


def _parameters(name: str, side: int, rng: Rng) -> dict[str, Any]:
    known = inspect.signature(MODELS[name]).parameters
    given: dict[str, Any] = {key: value for key, value in SMALL.items() if key in known}
    if "factors" in known and rng.random() < 0.8:
        given["factors"] = int(min(rng.choice(FACTORS), side if rng.random() < 0.7 else np.inf))
    if "tolerance" in known and rng.random() < 0.3:
        given["tolerance"] = float(rng.choice([0.0, 1e-8, 4e-6]))
    if "regularization" in known and rng.random() < 0.3:
        given["regularization"] = float(rng.choice([0.0, 1e-30, 0.5, 0.99]))
    if "neighbours" in known and rng.random() < 0.6:
        given["neighbours"] = int(rng.choice(NEIGHBOURS))
    if name == "distilled":
        given["teacher"] = tr.RG2(factors=int(rng.choice(FACTORS)))
    return given


def _check_factors(name: str, model: Any) -> None:
    for side in ("user_factors", "item_factors"):
        factors = getattr(model, side, None)
        if factors is not None and not np.isfinite(factors).all():
            raise Difference(f"{name}: {side} hold values that are infinite or not a number")


def _check_lists(name: str, model: Any, data: Interactions, rng: Rng) -> None:
    n = int(rng.choice([1, 5, 50]))
    users = data.user_ids[:20]
    ids, scores = model.recommend(users, n=n)
    if ids.shape != (len(users), n) or scores.shape != ids.shape:
        raise Difference(f"{name}: lists of shape {ids.shape}, not {(len(users), n)}")
    there = ids != _padding(ids)
    if not (np.isfinite(scores) == there).all():
        raise Difference(f"{name}: an item without a number, or a number without an item")
    can_be = data.n_items if model.ranker.rankable is None else int(np.count_nonzero(model.ranker.rankable))
    for row, user in enumerate(users):
        seen, got = {*data.items_of(user).tolist()}, ids[row][there[row]].tolist()
        if len(set(got)) < len(got) or seen & set(got) or (np.diff(scores[row][there[row]]) > 0).any():
            raise Difference(f"{name}: a list that repeats items, shows seen ones or is out of order")
        if len(got) < min(n, can_be - len(seen)):
            raise Difference(f"{name}: a list of {len(got)} where there are {can_be - len(seen)} items to show")


def _padding(ids: NDArray[Any]) -> Any:
    return "" if ids.dtype.kind in "UTO" else -1


CHECKS: dict[str, Callable[[Any, Interactions], NDArray[Any]]] = {
    "evaluate": lambda model, data: np.array([*tr.evaluate(model, data, k=5, seen=None).values()]),
    "similar_items": lambda model, data: _finite_part(model.similar_items(data.item_ids[:5], n=3)),
    "explain": lambda model, data: np.array([model.explain(data.user_ids[0], data.item_ids[0]).score]),
    "fold_in": lambda model, data: _finite_part(model.fold_in(data).recommend(data.user_ids[:5], n=3)),
}


def _finite_part(lists: tuple[NDArray[Any], NDArray[Any]]) -> NDArray[Any]:
    ids, scores = lists
    return np.asarray(scores[ids != _padding(ids)])


def _check_others(name: str, model: Any, data: Interactions, rng: Rng) -> None:
    what = str(rng.choice([one for one in CHECKS if one == "evaluate" or hasattr(model, one)]))
    try:
        found = CHECKS[what](model, data)
    except TaylorankError:  # a model that cannot do this says so
        return
    if not np.isfinite(found).all():
        raise Difference(f"{name}: {what} gives values that are infinite or not a number")
