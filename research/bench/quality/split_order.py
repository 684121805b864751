"""Whether the test parts of the published splits are random fifths: shares of items, and likeness along the lines.

- `z-variance`: of n_y interactions of an item, t_y are in the test part, which has the share p of all. Over items
  z = (t − n p) / √(n p (1 − p)) has variance 1 if the part is random; a split of the same sizes, drawn per user, shows
  what chance gives.
- `along the line`: the co-occurrence cosine |U_i ∩ U_j| / √(|U_i| |U_j|) of the training item i at a place of a user's
  line with the test items j of that user, mean over users. U are the users in training, so the user's own test pairs
  take no part. If the test part came after the line, its end is the most alike. The places of Gowalla's pairs are in
  the order file.
- `new items`: ids were given in the order in which items first appear in the training file. So of the items that no
  user before has, a line's order is known without any order file: it is that of the ids. The same cosine of the first
  and of the last of them, for users with at least four, is what can be said of Yelp2018.

    python -m research.bench split-order --json research/records/bench/split_order.json
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from taylorank.data import Interactions, datasets, merge, planted
from taylorank.errors import DataError
from taylorank.machine import describe_machine

SETS = ("gowalla", "yelp2018")
POPULAR = 200  # interactions above which an item counts as popular
PLACES = {"first": 0.0, "a quarter": 0.25, "half": 0.5, "three quarters": 0.75, "last": 1.0}
LEAST_NEW = 4  # items of a user that no user before has
BLOCK = 2000  # users at a time
Row = dict[str, Any]
Whole = NDArray[np.int64]


def run(*, quick: bool = False) -> Row:
    """Measure every set that is here; `quick` uses planted data alone."""
    machine, sets = describe_machine(), {}
    for name in ("planted",) if quick else SETS:
        try:
            train, test = _planted() if quick else datasets.published_split(name)
        except DataError:
            continue  # not on this machine
        sets[name] = measure(train, test, None if train.timestamps is None or quick else np.asarray(train.timestamps))
    return {"benchmark": "split-order", "machine": machine, "sets": sets}


def measure(train: Interactions, test: Interactions, places: Whole | None) -> Row:
    """Return the figures of one split; `places` of the training pairs in their lines, −1 where unknown."""
    fifth = test.nnz / (train.nnz + test.nnz)
    drawn = merge(train, test).split((1 - fifth, fifth), random_state=0)
    found: Row = {
        "test_share": round(fifth, 4),
        "z_variance": z_variance(train, test),
        "z_variance_of_a_random_split": z_variance(*drawn),
        "new_items": along_new_items(train, test),
    }
    if places is not None:
        found["known_places"] = round(float((places >= 0).mean()), 4)
        found["new_items_in_order"] = _in_order(train, places)
        found["along_the_line"] = along_the_line(train, test, places)
    return found


def z_variance(train: Interactions, test: Interactions) -> Row:
    """Return the variance of z over all items, and over the popular ones."""
    in_train, in_test = (np.bincount(part.by_user.indices, minlength=train.n_items) for part in (train, test))
    n, p = in_train + in_test, test.nnz / (train.nnz + test.nnz)
    z = np.divide(in_test - n * p, np.sqrt(n * p * (1 - p)), out=np.zeros(len(n)), where=n > 0)
    popular = n > POPULAR
    return {
        "all": round(float(z[n > 0].var()), 2),
        "popular": round(float(z[popular].var()), 2) if popular.any() else None,
        "items": [int((n > 0).sum()), int(popular.sum())],
    }


def along_the_line(train: Interactions, test: Interactions, places: Whole) -> Row:
    """Return the mean cosine with the user's test items, by place in the line, of users with five places or more."""
    rows = train.by_user
    order = np.lexsort((places, rows.row_of_entry()))  # the known places of a row come last, in order
    known = np.bincount(rows.row_of_entry(), weights=places >= 0, minlength=rows.n_rows).astype(np.int64)
    users = np.flatnonzero((known >= 5) & (test.by_user.row_lengths > 0))
    ends = rows.indptr[users + 1]
    found: Row = {"users": len(users)}
    for name, share in PLACES.items():
        at = ends - known[users] + np.round(share * (known[users] - 1)).astype(np.int64)
        found[name] = _mean(cosines(train, test, users, rows.indices[order[at]]))
    return found


def along_new_items(train: Interactions, test: Interactions) -> Row:
    """Return the mean cosine of the first and of the last item that no user before has, with a standard error."""
    rows, users = train.by_user, train.by_user.row_of_entry()
    first = np.full(train.n_items, train.n_users)
    np.minimum.at(first, rows.indices, users)
    seen = np.flatnonzero(first < train.n_users)
    new = users == first[rows.indices]
    counts = np.bincount(users[new], minlength=train.n_users)
    chosen = np.flatnonzero((counts >= LEAST_NEW) & (test.by_user.row_lengths > 0))
    entries = np.flatnonzero(new & np.isin(users, chosen))  # ids, and so places, ascend within a row
    ends = np.cumsum(counts[chosen])
    early = cosines(train, test, chosen, rows.indices[entries[ends - counts[chosen]]])
    late = cosines(train, test, chosen, rows.indices[entries[ends - 1]])
    gap = late - early
    error = float(gap.std() / np.sqrt(len(gap))) if len(gap) else float("nan")
    return {
        "ids_by_first_appearance": round(float((np.diff(first[seen]) >= 0).mean()), 4),
        "share_of_pairs": round(float(new.mean()), 4),
        "users": len(chosen),
        "first": _mean(early),
        "last": _mean(late),
        "difference": _mean(gap),
        "standard_error": round(error, 5),
    }


def cosines(train: Interactions, test: Interactions, users: Whole, items: NDArray[np.int32]) -> NDArray[np.float64]:
    """Return for each user the mean co-occurrence cosine of the given item with the user's test items."""
    R, wanted = (_ones(part) for part in (train, test))
    by_item, popularity = R.T.tocsr(), np.maximum(np.asarray(R.sum(axis=0)).ravel(), 1)
    wanted = wanted @ sparse.diags_array(popularity**-0.5)
    found = []
    for start in range(0, len(users), BLOCK):
        part, own = users[start : start + BLOCK], items[start : start + BLOCK]
        together = by_item[own] @ R  # users who have both, (B, N)
        sums = np.asarray((together * wanted[part]).sum(axis=1)).ravel() / np.sqrt(popularity[own])
        found.append(sums / test.by_user.row_lengths[part])
    return np.concatenate(found) if found else np.zeros(0)


def _ones(part: Interactions) -> sparse.csr_array:
    rows = part.by_user
    ones = np.ones(rows.nnz, dtype=np.float32)
    return sparse.csr_array((ones, rows.indices, rows.indptr), shape=(rows.n_rows, rows.n_columns))


def _mean(values: NDArray[np.float64]) -> float | None:
    return round(float(values.mean()), 5) if len(values) else None


def _in_order(train: Interactions, places: Whole) -> float | None:
    """The share of neighbouring new items of a line, places known, whose places ascend with their ids."""
    users, first = train.by_user.row_of_entry(), np.full(train.n_items, train.n_users)
    np.minimum.at(first, train.by_user.indices, users)
    chosen = np.flatnonzero((users == first[train.by_user.indices]) & (places >= 0))
    same = users[chosen[1:]] == users[chosen[:-1]]
    return round(float((np.diff(places[chosen]) > 0)[same].mean()), 5) if same.any() else None


def _planted() -> tuple[Interactions, Interactions]:
    train, test = planted(300, 120, interactions=6000).split((0.8, 0.2))
    return train, test


def describe(record: Row) -> list[str]:
    """Describe the figures of each set."""
    lines = []
    for name, row in record["sets"].items():
        z, drawn, new = row["z_variance"], row["z_variance_of_a_random_split"], row["new_items"]
        popular = "" if z["popular"] is None else f", {z['popular']} for items with over {POPULAR} interactions"
        lines.append(f"{name}: z-variance of item shares {z['all']}{popular}; a random split {drawn['all']}")
        if "along_the_line" in row:
            line = row["along_the_line"]
            shown = ", ".join(f"{place} {line[place]:.3f}" for place in PLACES)
            lines.append(f"{name}: cosine with the user's test items, by place in the line: {shown}")
        if new["users"]:
            shown = f"first {new['first']:.4f}, last {new['last']:.4f} ({new['users']:,} users)"
            more = f"difference {new['difference']:.4f} ± {new['standard_error']:.4f}"
            lines.append(f"{name}: cosine of the items of a line that no line before has: {shown}; {more}")
    return lines
