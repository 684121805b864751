"""The data sets of the study, in parts: what is searched on, what is refitted on, what is looked at once.

Sets go to a machine without our readers as small .npz files, which `prepare` writes: gaps between the items of each
user, and the part that each pair belongs to where it is no matter of chance.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taylorank.data import CSR, Ids, Interactions, datasets, merge, planted
from taylorank.data.tail import knows_order, split_tail
from taylorank.errors import ParameterError

PUBLIC = ("gowalla", "yelp2018")
FIFTH = (0.8, 0.2)
MOST_USERS = 20_000  # in validation data


@dataclass(frozen=True)
class Kept:
    """Where a set comes from and how its test part is cut off: at random, the last fifth, or the last item."""

    name: str
    cleaning: str
    cut: str


KEPT = {
    "ml-1m": Kept("ml-1m", "paper", "random"),
    "moby-thesaurus": Kept("moby-thesaurus", "paper", "random"),
    "npm-deps": Kept("npm-deps-2016", "5-core", "random"),
    "online-retail": Kept("online-retail", "paper", "last fifth"),
    "amazon-beauty": Kept("amazon-beauty-bert4rec", "paper", "last item"),
    "amazon-sports": Kept("amazon-sports-s3rec", "paper", "last item"),
    "movietweetings": Kept("movietweetings", "paper", "last fifth"),
    "steam": Kept("steam-200k", "paper", "random"),
    "generated": Kept("", "", "random"),
}


@dataclass(frozen=True, eq=False)
class Parts:
    """`train` and `valid` for choosing, `whole` (both) for the last fit, `test` for one look."""

    train: Interactions
    valid: Interactions
    whole: Interactions
    test: Interactions
    held_back: str


def prepare(folder: Path, names: tuple[str, ...]) -> None:
    """Write the sets to `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        write(folder / f"{name}.npz", _parts_of(name))


def _parts_of(name: str) -> tuple[Interactions, ...]:
    """One part where chance splits it, else training, validation and test parts in order; of Yelp2018 two."""
    if name in PUBLIC:
        train, test = datasets.published_split(name)
        return (*split_tail(train, FIFTH), test) if knows_order(train) else (train, test)
    data = datasets.get(KEPT[name].name, cleaning=KEPT[name].cleaning)
    if KEPT[name].cut == "random":
        return (data,)
    if KEPT[name].cut == "last item":
        return data.split_last(valid=1, test=1)
    whole, test = split_tail(data, FIFTH)
    return (*split_tail(whole, FIFTH), test)


def write(file: Path, parts: tuple[Interactions, ...]) -> None:
    """Write parts over the same ids to one file; ids become positions."""
    arrays: dict[str, NDArray[Any]] = {"items": np.array(parts[0].n_items), "parts": np.array(len(parts))}
    for number, part in enumerate(parts):
        rows = part.by_user
        gaps = np.diff(rows.indices, prepend=0)
        starts = rows.indptr[:-1][rows.row_lengths > 0]
        gaps[starts] = rows.indices[starts]
        arrays |= {f"lengths{number}": rows.row_lengths.astype(np.int32), f"gaps{number}": gaps.astype(np.uint16)}
        if gaps.max() > np.iinfo(np.uint16).max:
            raise ParameterError(f"{part.n_items:,} items are too many for this file", "leave this set out")
    np.savez_compressed(file, allow_pickle=False, **arrays)


def read(file: Path) -> tuple[Interactions, ...]:
    """Read what `write` wrote."""
    with np.load(file) as kept:
        arrays = {name: kept[name].astype(np.int64) for name in kept.files}
    items, found = Ids(np.arange(int(arrays["items"]))), []
    users = Ids(np.arange(len(arrays["lengths0"])))
    for number in range(int(arrays["parts"])):
        lengths, gaps = arrays[f"lengths{number}"], arrays[f"gaps{number}"]
        indptr = np.concatenate(([0], np.cumsum(lengths)))
        sums = np.concatenate(([0], np.cumsum(gaps)))
        indices = sums[1:] - np.repeat(sums[indptr[:-1]], lengths)
        found.append(Interactions(CSR(indptr, indices.astype(np.int32), None, len(items)), users, items))
    return tuple(found)


def load(name: str, folder: Path, seed: int, *, quick: bool = False) -> Parts:
    """Return the parts of a set; `seed` draws what is drawn."""
    if quick:
        return _at_random(planted(300, 150, interactions=5000, random_state=len(name)), seed)
    if name == "generated":
        return _at_random(generated(), seed)
    if name not in (*PUBLIC, *KEPT):
        raise ParameterError(f"no data set {name!r} in this study", f"choose from {', '.join((*PUBLIC, *KEPT))}")
    parts = read(folder / f"{name}.npz")
    if len(parts) == 1:
        return _at_random(parts[0], seed)
    if len(parts) == 2:
        train, valid = parts[0].split((0.9, 0.1), random_state=seed)
        return Parts(train, valid, *parts, held_back="random tenth")
    train, valid, test = parts
    how = "last fifth of each line" if name in PUBLIC else KEPT[name].cut
    return Parts(train, valid, merge(train, valid), test, how)


def generated() -> Interactions:
    """Return 5,000 users with 100 items each on average, of more tastes than a student has numbers."""
    return planted(5000, 2000, factors=300, interactions=500_000, taste=4.0)


def _at_random(data: Interactions, seed: int) -> Parts:
    train, valid, test = data.split((0.8, 0.1, 0.1), random_state=seed)
    return Parts(train, fewer(valid), merge(train, valid), fewer(test, 2 * MOST_USERS), "random tenth")


def fewer(held: Interactions, most: int = MOST_USERS) -> Interactions:
    """Return what was held back of at most so many users: enough to judge by."""
    having = np.flatnonzero(held.by_user.row_lengths > 0)
    if len(having) <= most:
        return held
    kept = np.zeros(held.n_users, dtype=bool)
    kept[np.random.default_rng(0).choice(having, most, replace=False)] = True
    return held.select(kept[held.by_user.row_of_entry()], f"{most:,} users")
