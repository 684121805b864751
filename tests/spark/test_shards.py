"""Item vectors in shards give what item vectors in memory give."""

from __future__ import annotations

import numpy as np
import pytest
from planted_frame import frame_of, lists_of, with_strengths

import taylorank as tr
from taylorank.spark import RG2, RG2Model, evaluate, sharded_basis, shards

FORCED = 1e-3  # MB: every basis is too large
SMALL = 1 << 17  # bytes of a shard
TOLERANCE = 1e-2


@pytest.fixture(scope="module")
def data():
    return with_strengths(tr.planted(500, 420, interactions=8000, random_state=11))


@pytest.fixture(scope="module")
def frame(spark, data):
    return frame_of(spark, data, columns=("user", "item", "strength")).persist()


@pytest.fixture(scope="module")
def models(spark, frame):
    """One in memory, one in several shards."""
    estimator = RG2(rank=5, regParam=0.1, strengthCol="strength", numUserBlocks=2, rankCol="rank", tol=TOLERANCE)
    before, shards.SHARD_BYTES = shards.SHARD_BYTES, SMALL
    found = [estimator.copy({estimator.itemMemory: memory}).fit(frame) for memory in (0.0, FORCED)]
    shards.SHARD_BYTES = before
    return found


def test_the_same_factors_and_lists(models, frame, tmp_path):
    whole, sharded = models
    assert whole.files.shards == ()
    assert len(sharded.files.shards) == 4
    assert not sharded.files.folder.read_arrays("item_arrays").get("vectors", np.zeros(0)).size
    np.testing.assert_allclose(sharded.facts["values"], whole.facts["values"], rtol=1e-6)
    assert sharded.facts["passes"] == whole.facts["passes"]
    for seen in ("train", None):
        known, found = (lists_of(model.recommendForAllUsers(7, seen=seen)) for model in models)
        assert known.keys() == found.keys()
        for user, pairs in known.items():
            np.testing.assert_allclose([s for _, s in found[user]], [s for _, s in pairs], rtol=1e-5)
        same = np.mean([[item for item, _ in found[user]] == [item for item, _ in known[user]] for user in known])
        assert same > 0.99  # equal but for rounding where scores tie
    sharded.write().overwrite().save(str(tmp_path / "model"))
    loaded = RG2Model.load(str(tmp_path / "model"))
    assert lists_of(loaded.recommendForAllUsers(7, seen=None)) == found


def test_whatever_else_reads_them(models, frame):
    known, found = (sorted(model.transform(frame.limit(300)).collect()) for model in models)
    np.testing.assert_allclose([row["prediction"] for row in found], [row["prediction"] for row in known], rtol=1e-4)
    assert np.mean([a["rank"] == b["rank"] for a, b in zip(known, found, strict=True)]) > 0.99
    features = [{row["id"]: row["features"] for row in model.itemFactors.collect()} for model in models]
    products = [np.array([side[item] for item in sorted(side)]) for side in features]
    np.testing.assert_allclose(products[1] @ products[1].T, products[0] @ products[0].T, rtol=1e-3, atol=1e-4)
    test = frame.sample(0.2, seed=3)
    scores = [evaluate(model, test, k=10, metrics="ndcg", seen=None)["ndcg@10"] for model in models]
    assert scores[1] == pytest.approx(scores[0], rel=1e-3)
    local = models[1].to_local()
    assert local.item_factors.shape == (models[1].facts["n_items"], 5)


def test_a_pass_takes_five_jobs(spark, frame, monkeypatch):
    monkeypatch.setattr(shards, "SHARD_BYTES", SMALL)
    context, counts = spark.sparkContext, []
    for tolerance in (TOLERANCE, 1e-5):
        estimator = RG2(rank=5, regParam=0.1, numUserBlocks=2, itemMemory=FORCED, tol=tolerance)
        context.setJobGroup(estimator.uid, "jobs of a fit")
        passes = estimator.fit(frame).facts["passes"]
        counts.append((passes, len(context.statusTracker().getJobIdsForGroup(estimator.uid))))
    context.setJobGroup("", "")
    (few, first), (many, second) = counts
    assert many > few
    assert second - first <= 5 * (many - few) + 2  # a restart takes one more


class Interrupted(Exception):
    """The driver is gone."""


def test_an_interrupted_fit_in_shards_goes_on(spark, frame, models, tmp_path, monkeypatch):
    monkeypatch.setattr(shards, "SHARD_BYTES", SMALL)
    estimator = RG2(rank=5, regParam=0.1, strengthCol="strength", numUserBlocks=2, itemMemory=FORCED, tol=TOLERANCE)
    whole, calls = sharded_basis.summed_pieces, []

    def counted(*args):
        calls.append(1)
        if len(calls) == 3:
            raise Interrupted
        return whole(*args)

    monkeypatch.setattr(sharded_basis, "summed_pieces", counted)
    own = estimator.copy({estimator.workDir: str(tmp_path)})
    with pytest.raises(Interrupted):
        own.fit(frame)
    model = own.fit(frame)
    assert len(calls) == 3 + models[1].facts["passes"] - 2  # two products were there
    assert model.facts["values"] == models[1].facts["values"]
    assert lists_of(model.recommendForAllUsers(3)) == lists_of(models[1].recommendForAllUsers(3))


def test_where_the_krylov_space_is_exhausted(spark, monkeypatch):
    """Two groups with nothing in common, all of whose users are alike: two singular values that are not 0."""
    monkeypatch.setattr(shards, "SHARD_BYTES", SMALL)
    rows = [(x, y) for x in range(12) for y in range(130)] + [(x, y) for x in range(12, 20) for y in range(130, 240)]
    frame = spark.createDataFrame(rows, "user long, item long")
    values = [RG2(rank=3, maxIter=3, itemMemory=memory).fit(frame).facts["values"] for memory in (0.0, FORCED)]
    np.testing.assert_allclose(values[1], values[0], atol=2e-3 * values[0][0])
    assert values[0][0] > 0


@pytest.mark.parametrize(("text", "number"), [("1g", 1 << 30), ("512m", 512 << 20), ("4096", 4096), ("2gb", 2 << 30)])
def test_sizes_as_spark_writes_them(text, number):
    assert shards.bytes_of(text) == number


def test_the_limit_is_a_quarter_of_memory(spark):
    assert shards.item_limit(spark, 3.0) == 3 << 20
    assert shards.item_limit(spark, 0.0) * 4 >= 1 << 30
