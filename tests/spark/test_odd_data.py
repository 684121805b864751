"""Ids of any type, rows in any order, duplicates, missing values, skew, empty partitions."""

from __future__ import annotations

import datetime
import decimal

import numpy as np
import pytest
from planted_frame import agreement, frame_of, lists_of, with_strengths

import taylorank as tr
from taylorank.errors import DataError
from taylorank.spark import IALS, RG2, RG2Model, evaluate

ODD = [
    "",
    " ",
    "a b",
    'q"uote',
    "back\\slash",
    "new\nline",
    "tab\t",
    "nul\0",
    "日本",
    "🙂",
    "é",
    "é",
    "-1",
    "01",
    "1",
    "`",
]


def _grid(ids):
    """Pairs in which every id occurs on both sides, with some structure."""
    n = len(ids)
    return [(ids[x], ids[(x + step) % n]) for x in range(n) for step in (0, 1, 3, 4)]


def test_strings_with_any_characters(spark, tmp_path):
    pairs = _grid(ODD)
    frame = spark.createDataFrame(pairs, "user string, item string")
    model = RG2(rank=3, regParam=0.2).fit(frame)
    local = tr.RG2(3, regularization=0.2).fit(tr.Interactions.from_arrays([x for x, _ in pairs], [y for _, y in pairs]))
    same, error = agreement(local, lists_of(model.recommendForAllUsers(3)), 3)
    assert error < 1e-4
    assert same >= 0.9  # pairs of equal scores may change places
    assert model.to_local().users == local.users
    model.save(str(tmp_path / "model"))
    loaded = RG2Model.load(str(tmp_path / "model"))
    scored = loaded.transform(frame)
    assert sorted((row["user"], row["item"]) for row in scored.collect()) == sorted(pairs)
    places = {str(name): place for place, name in enumerate(local.items)}
    scores = dict(zip(map(str, local.users), local.scores(np.arange(len(ODD))), strict=True))
    for row in scored.collect():
        assert row["prediction"] == pytest.approx(scores[row["user"]][places[row["item"]]], rel=1e-3, abs=1e-6)
    known = tr.evaluate(local, tr.Interactions.from_arrays(*zip(*pairs, strict=True)), k=3, metrics="recall", seen=[])
    assert evaluate(loaded, frame, k=3, metrics="recall", seen=None)["recall@3"] == pytest.approx(known["recall@3"])


DAYS = [datetime.date(2024, 1, 1) + datetime.timedelta(days=n) for n in range(8)]
MOMENTS = [datetime.datetime(2024, 3, 10, 1, n, 7) for n in range(8)]
BYTES = [bytes([n, 0, 255]) for n in range(8)]
TENTHS = [decimal.Decimal(n) / 8 for n in range(8)]


@pytest.mark.parametrize(
    ("kinds", "sides"),
    [
        (("date", "binary"), (DAYS, BYTES)),
        (("timestamp", "decimal(20,3)"), (MOMENTS, TENTHS)),
        (("double", "smallint"), ([n / 3 for n in range(8)], list(range(-4, 4)))),
    ],
)
def test_ids_of_any_type_come_back_as_they_were(spark, kinds, sides):
    rows = [(sides[0][x], sides[1][(x + step) % 8]) for x in range(8) for step in (0, 1, 3, 4)]
    model = RG2(rank=2).fit(spark.createDataFrame(rows, f"user {kinds[0]}, item {kinds[1]}"))
    found = model.recommendForAllUsers(8, seen=None)
    assert found.schema["user"].dataType.simpleString() == kinds[0]
    listed = found.collect()
    assert sorted(row["user"] for row in listed) == sorted(sides[0])
    plain = bytes if kinds[1] == "binary" else (lambda value: value)
    assert {plain(pair["item"]) for row in listed for pair in row["recommendations"]} == set(sides[1])


def test_ids_that_are_no_ids_are_refused(spark):
    with pytest.raises(DataError, match="holds no ids"):
        RG2(rank=1).fit(spark.createDataFrame([([1], 2)], "user array<long>, item long"))


@pytest.mark.parametrize("strengths", [False, True])
@pytest.mark.parametrize("estimator", [RG2(rank=5, numUserBlocks=2), IALS(rank=3, maxIter=2, numUserBlocks=2)])
def test_the_order_of_rows_and_their_duplicates_change_no_bit(spark, estimator, strengths):
    from pyspark.sql import functions as F

    data = with_strengths(tr.planted(150, 60, interactions=2000, random_state=2))
    frame = frame_of(spark, data, columns=("user", "item", "strength"))
    if strengths:
        estimator = estimator.copy({estimator.strengthCol: "strength"})
    shuffled = frame.union(frame.sample(0.3, seed=1)).orderBy(F.rand(7)).repartition(5)
    known, found = (lists_of(estimator.fit(rows).recommendForAllUsers(5)) for rows in (frame, shuffled))
    assert found == known


@pytest.mark.parametrize("duplicates", ["max", "sum"])
def test_strengths_of_repeated_pairs(spark, duplicates):
    rows = [(x, y, float(1 + (x * y) % 4)) for x in range(12) for y in range(9) if (x + y) % 3]
    rows += [(1, 1, 3.5), (1, 1, 0.25), (2, 3, 0.0)]
    frame = spark.createDataFrame(rows, "user long, item long, strength double")
    model = IALS(rank=2, maxIter=2, strengthCol="strength", duplicates=duplicates).fit(frame)
    users, items, strengths = (np.array(column) for column in zip(*rows, strict=True))
    known = tr.Interactions.from_arrays(users, items, strengths=strengths, duplicates=duplicates)
    found = model.to_local().seen
    assert found.matrix.toarray().tolist() == known.matrix.toarray().tolist()


def test_missing_values_are_an_error_or_skipped(spark):
    rows = [(x, y, 1.0) for x in range(6) for y in range(6) if (x + y) % 2]
    bad = [(None, 1, 1.0), (1, None, 1.0), (1, 2, None), (1, 2, float("nan")), (1, 2, -1.0)]
    good = spark.createDataFrame(rows, "user long, item long, strength double")
    for row, message in zip(bad, ("user id", "item id", "strength", "strength", "strength"), strict=True):
        frame = good.union(spark.createDataFrame([row], good.schema))
        with pytest.raises(DataError, match=message):
            RG2(rank=2, strengthCol="strength").fit(frame)
    frame = good.union(spark.createDataFrame(bad, good.schema))
    skipped = RG2(rank=2, strengthCol="strength", handleInvalid="skip").fit(frame)
    assert skipped.facts["interactions"] == len(rows)


def test_skewed_items_and_empty_partitions(spark):
    rng = np.random.default_rng(0)
    data = tr.planted(200, 90, interactions=2500, random_state=4)
    table = data.to_frame()
    popular = rng.choice(data.user_ids, 60, replace=False)  # 30 % of the histories
    one = tr.Interactions.from_arrays(
        np.concatenate((table["user"].to_numpy(), popular)),
        np.concatenate((table["item"].to_numpy(), np.full(60, 10**6))),
    )
    frame = frame_of(spark, one)
    same, error = agreement(
        tr.RG2(5, regularization=0.2).fit(one),
        lists_of(RG2(rank=5, regParam=0.2).fit(frame).recommendForAllUsers(5)),
        5,
    )
    assert (same, error < 1e-4) == (1.0, True)
    few = tr.Interactions.from_arrays([1, 1, 2, 2, 3], [1, 2, 2, 3, 1])
    model = IALS(rank=2, maxIter=2, numUserBlocks=9).fit(frame_of(spark, few))
    assert model.facts["n_users"] == 3
    assert len(lists_of(model.recommendForAllUsers(2))) == 3
    assert RG2(rank=2, numUserBlocks=9).fit(frame_of(spark, few)).facts["blocks"] == 9


def test_no_interactions_at_all(spark):
    with pytest.raises(DataError, match="no interactions"):
        RG2(rank=1).fit(spark.createDataFrame([], "user long, item long"))
