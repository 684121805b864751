"""Whether a test part is a random fifth: recognised on splits whose making is known."""

from __future__ import annotations

import numpy as np
import pytest

import taylorank as tr
from research.bench.quality.split_order import (
    along_new_items,
    along_the_line,
    cosines,
    describe,
    measure,
    run,
    z_variance,
)


def drifting(users=400, groups=20, each=15, seed=0):
    """Users who walk through groups of items: lines of 24 whose last 4 are the test part. Ids by first appearance."""
    rng = np.random.default_rng(seed)
    names, lines = {}, []
    for _ in range(users):
        start = rng.integers(groups)
        line = [(start + place // 8) % groups * each + rng.integers(each) for place in range(24)]
        lines.append(list(dict.fromkeys(line)))
    for line in lines:
        for item in line[:-4]:
            names.setdefault(item, len(names))
    pairs = [
        [(x, names[item], place) for place, item in enumerate(line) if item in names] for x, line in enumerate(lines)
    ]
    early, late = ([p for line in pairs for p in part(line)] for part in (lambda one: one[:-4], lambda one: one[-4:]))
    parts = [
        tr.Interactions.from_arrays(*np.array(side).T[:2], timestamps=np.array(side).T[2]) for side in (early, late)
    ]
    return tr.data.share_ids(*parts)


def test_a_random_part_has_variance_one_and_a_biased_one_more():
    data = tr.planted(2000, 200, interactions=40_000, seed=1)
    assert z_variance(*data.split((0.8, 0.2), seed=4))["all"] == pytest.approx(1, abs=0.25)
    rng = np.random.default_rng(0)
    held = rng.random(data.nnz) < np.where(data.by_user.indices % 2 == 0, 0.3, 0.1)
    assert z_variance(data.select(~held, "train"), data.select(held, "test"))["all"] > 3


def test_the_cosine_worked_by_hand():
    """Items 0 and 1 share one of their users: 1 / √(2 · 2); item 2 shares none."""
    train = tr.Interactions.from_arrays([0, 1, 1, 2, 3], [0, 0, 1, 1, 2])
    test = tr.Interactions.from_positions(
        (train.users, np.array([0, 0], dtype=np.int32)), (train.items, np.array([1, 2], dtype=np.int32))
    )
    assert cosines(train, test, np.array([0]), np.array([0], dtype=np.int32))[0] == pytest.approx(0.5 / 2)


def test_the_end_of_a_line_is_most_like_what_follows():
    train, test = drifting()
    line = along_the_line(train, test, np.asarray(train.timestamps))
    assert line["last"] > 2 * line["first"]
    assert line["users"] == 400
    shuffled = np.random.default_rng(0).permutation(train.nnz)
    plain = along_the_line(train, test, shuffled)
    assert plain["last"] == pytest.approx(plain["first"], rel=0.25)


def test_ids_by_first_appearance_tell_the_order_of_new_items():
    train, test = drifting()
    found = along_new_items(train, test)
    assert found["ids_by_first_appearance"] == 1
    assert found["last"] > found["first"]
    assert measure(train, test, np.asarray(train.timestamps))["new_items_in_order"] == 1


def test_it_runs_and_is_described():
    (line,) = [line for line in describe(run(quick=True)) if "z-variance" in line]
    assert line.startswith("planted: z-variance of item shares")
