"""A fitted model on Spark: scores, lists of both kinds, evaluation, the path, files, and the way to one machine."""

from __future__ import annotations

import numpy as np
import pytest
from planted_frame import agreement, frame_of, lists_of

import taylorank as tr
from taylorank.errors import DataError, LeakageWarning, ParameterError
from taylorank.spark import IALS, RG2, FactorsModel, RG2Model, evaluate, from_local, tune


@pytest.fixture(scope="module")
def parts():
    return tr.planted(300, 120, interactions=6000, random_state=3).split(random_state=3)


@pytest.fixture(scope="module")
def model(spark, parts):
    return RG2(rank=10, regParam=0.2, rankCol="rank", rankLimit=20).fit(frame_of(spark, parts[0]))


@pytest.fixture(scope="module")
def local(model):
    return model.to_local()


def test_the_local_model_is_the_one_of_one_machine(parts, local, tmp_path):
    reference = tr.RG2(10, regularization=0.2).fit(parts[0])
    assert local.seen == parts[0].select(np.ones(parts[0].nnz, bool), "all") or local.seen.nnz == parts[0].nnz
    users = parts[0].user_ids[:50]
    np.testing.assert_allclose(local.recommend(users, n=5)[1], reference.recommend(users, n=5)[1], rtol=1e-4)
    local.save(tmp_path / "model.tr", path=True)
    loaded = tr.load(tmp_path / "model.tr")
    assert loaded.get_params()["factors"] == 10
    np.testing.assert_array_equal(loaded.recommend(users)[0], local.recommend(users)[0])
    other = next(iter(loaded.path([4], [0.1])))
    known = next(iter(reference.path([4], [0.1])))
    np.testing.assert_allclose(other.recommend(users)[1], known.recommend(users)[1], rtol=1e-4)
    history = tr.Interactions.from_arrays(["new"] * 3, parts[0].item_ids[:3])
    np.testing.assert_allclose(
        loaded.fold_in(history).recommend(["new"])[1], reference.fold_in(history).recommend(["new"])[1], rtol=1e-3
    )


def test_transform_gives_scores_and_ranks_of_the_whole_list(spark, parts, model, local):
    frame = frame_of(spark, parts[2])
    rows = model.transform(frame).collect()
    scores = local.scores(local.users.positions(np.array([row["user"] for row in rows])))
    columns = local.items.positions(np.array([row["item"] for row in rows]))
    np.testing.assert_allclose(
        [row["prediction"] for row in rows], scores[np.arange(len(rows)), columns], rtol=1e-4, atol=1e-7
    )
    listed = dict(zip(local.user_ids if hasattr(local, "user_ids") else local.users.values,
                      local.recommend(local.users.values, n=20)[0].tolist(), strict=True))  # fmt: skip
    for row in rows:
        expected = listed[row["user"]].index(row["item"]) + 1 if row["item"] in listed[row["user"]] else None
        assert row["rank"] == expected


def test_unknown_users_and_items_are_not_numbers_or_dropped(spark, parts, model):
    known = (int(parts[0].user_ids[0]), int(parts[0].item_ids[0]))
    frame = spark.createDataFrame(
        [known, (known[0], 10**6), (10**6, known[1]), (None, known[1])], "user long, item long"
    )
    found = [row["prediction"] for row in model.transform(frame).collect()]
    assert np.isnan(found).sum() == 3
    assert model.copy({model.coldStartStrategy: "drop"}).transform(frame).count() == 1
    with pytest.raises(DataError, match="cast it to the same type"):
        model.transform(spark.createDataFrame([("a", 1)], "user string, item long"))


def test_other_columns_pass_through(spark, parts, model):
    from pyspark.sql import functions as F

    frame = frame_of(spark, parts[2]).withColumn("when", F.current_date()).withColumn("note", F.lit("x y"))
    assert model.transform(frame).columns == [*frame.columns, "prediction", "rank"]


def test_columns_of_any_name_and_type_pass_through(spark, parts, model):
    from pyspark.ml.feature import VectorAssembler
    from pyspark.sql import functions as F

    inner = F.struct(F.lit(1).alias("a b"), F.lit("x").alias("c.d"))
    frame = frame_of(spark, parts[2]).select("user", "item", F.lit(7).alias("the.hour"), inner.alias("in`side"))
    frame = VectorAssembler(inputCols=["user", "item"], outputCol="features").transform(frame).limit(5)
    twice = frame.select("*", F.lit(1).alias("z"), F.lit(2).alias("z"))
    known = {
        (row["user"], row["item"]): row["prediction"] for row in model.transform(frame_of(spark, parts[2])).collect()
    }
    for row in model.transform(twice).collect():
        assert row["prediction"] == known[row["user"], row["item"]]
        assert (row["the.hour"], row["in`side"]["a b"], row["in`side"]["c.d"]) == (7, 1, "x")
        assert row["features"].toArray().tolist() == [row["user"], row["item"]]
        assert row[5:7] == (1, 2)


def test_columns_of_ids_have_any_name(spark, parts):
    names = ("the.user", "item `id`")
    frame = frame_of(spark, parts[0]).toDF(*names)
    model = RG2(rank=3, regParam=0.2, userCol=names[0], itemCol=names[1], rankCol="a.rank").fit(frame)
    row = model.transform(frame.limit(1)).first()
    assert row["prediction"] > 0
    assert row["a.rank"] is None  # of an item in the history
    assert set(model.recommendForAllUsers(2).columns) == {names[0], "recommendations"}
    lists = model.recommendForAllItems(2).first()["recommendations"]
    assert lists[0][names[0]] in set(parts[0].users)
    assert model.evaluate(frame.limit(9), k=5, metrics="ndcg", seen=None)["ndcg@5"] > 0


def test_lists_hide_what_was_seen_or_what_is_given(spark, parts, model, local):
    assert agreement(local, lists_of(model.recommendForAllUsers(7)), 7)[0] == 1
    user = int(parts[0].user_ids[5])
    everything = lists_of(model.recommendForUserSubset(spark.createDataFrame([(user,)], "user long"), 30, seen=None))
    ids, _ = local.recommend([user], n=30, seen=[])
    assert [item for item, _ in everything[user]] == ids[0].tolist()
    hidden = spark.createDataFrame([(user, int(ids[0, 0])), (user, 10**7)], "user long, item long")
    subset = spark.createDataFrame([(user,), (user,), (10**6,)], "user long")
    others = lists_of(model.recommendForUserSubset(subset, 5, seen=hidden))
    assert list(others) == [user]
    assert [item for item, _ in others[user]] == ids[0, 1:6].tolist()


def test_best_users_of_items(spark, parts, model, local):
    train = parts[0]
    scores = np.where(train.matrix.toarray() > 0, -np.inf, local.scores(np.arange(train.n_users)))
    found = lists_of(model.recommendForAllItems(6), "item", "user")
    assert len(found) == np.count_nonzero(train.item_popularity)
    for item, listed in found.items():
        column = scores[:, int(train.items.positions([item])[0])]
        best = np.sort(column)[::-1][: len(listed)]
        np.testing.assert_allclose([score for _, score in listed], best, rtol=1e-4, atol=1e-7)
    some = spark.createDataFrame([(int(train.item_ids[3]),), (10**6,)], "item long")
    subset = lists_of(model.recommendForItemSubset(some, 6), "item", "user")
    assert subset == {int(train.item_ids[3]): found[int(train.item_ids[3])]}


def test_factors_are_those_of_the_local_model(model, local):
    users = {row["id"]: row["features"] for row in model.userFactors.collect()}
    np.testing.assert_allclose([users[user] for user in local.users.values], local.user_factors, rtol=1e-5, atol=1e-6)
    items = {row["id"]: row["features"] for row in model.itemFactors.collect()}
    np.testing.assert_allclose([items[item] for item in local.items.values], local.item_factors, rtol=1e-5, atol=1e-6)


def test_evaluation_is_that_of_one_machine(spark, parts, model, local):
    metrics = ["ndcg", "recall", "map", "mrr", "coverage", "gini", "novelty", "auc"]
    found = evaluate(model, frame_of(spark, parts[2]), k=(5, 10), metrics=metrics)
    known = tr.evaluate(local, parts[2], k=(5, 10), metrics=metrics)
    assert set(found) == set(known)
    for name, value in known.items():
        assert found[name] == pytest.approx(value, rel=1e-6), name
    assert found.users.evaluated == known.users.evaluated
    both = frame_of(spark, parts[0]).union(frame_of(spark, parts[1]))
    hidden = evaluate(model, frame_of(spark, parts[2]), k=10, metrics="ndcg", seen=both)
    assert hidden["ndcg@10"] == pytest.approx(
        tr.evaluate(local, parts[2], k=10, seen=[*parts[:2]], metrics="ndcg")["ndcg@10"]
    )


def test_graded_evaluation(spark, parts, model, local):
    from planted_frame import with_strengths

    graded = with_strengths(parts[2])
    frame = frame_of(spark, graded, columns=("user", "item", "strength"))
    found = evaluate(model, frame, k=10, metrics="ndcg", gain="exponential", strengthCol="strength")
    known = tr.evaluate(local, graded, k=10, metrics="ndcg", gain="exponential")
    assert found["ndcg@10"] == pytest.approx(known["ndcg@10"], rel=1e-6)


def test_evaluation_warns_of_pairs_that_were_seen(spark, parts, model):
    with pytest.warns(LeakageWarning, match="were seen before"):
        evaluate(model, frame_of(spark, parts[0]).limit(50), k=5, metrics="ndcg")
    with pytest.raises(ParameterError, match="to_local"):
        evaluate(model, frame_of(spark, parts[2]), k=5, metrics="ece")


def test_the_path_needs_no_fit(spark, parts, model):
    local = tr.RG2(10, regularization=0.2).fit(parts[0])
    found = {(m.getRank(), m.getRegParam()): m for m in model.path([3, 10], [0.0, 0.3])}
    assert len(found) == 4
    for (rank, share), one in found.items():
        known = next(iter(local.path([rank], [share])))
        assert (
            agreement(known, lists_of(one.recommendForUserSubset(frame_of(spark, parts[0]).limit(200), 5)), 5)[0] > 0.99
        )
    with pytest.raises(ParameterError, match="what was fitted"):
        list(model.path([11]))


def test_tune_fits_once_and_finds_the_best_of_the_path(spark, parts):
    found = tune(RG2(rank=12), frame_of(spark, parts[0]), frame_of(spark, parts[1]), metric="ndcg@5", ranks=[3, 6, 12])
    assert found.fits == 1
    shown = str(found).splitlines()
    assert len(shown) <= 12
    assert shown[1] == f"chosen: rank {found.params['rank']}, regParam {found.params['regParam']:.4g}"
    assert len(found.trials) == 15
    local = tr.RG2(12, regularization=0.2).fit(parts[0])
    known = {
        (m.factors, m.regularization): tr.evaluate(m, parts[1], k=5, metrics="ndcg")["ndcg@5"]
        for m in local.path([3, 6, 12])
    }
    assert found.score == pytest.approx(max(known.values()), rel=1e-3)
    assert known[found.params["rank"], found.params["regParam"]] == pytest.approx(max(known.values()), rel=1e-3)


def test_a_model_comes_back_from_its_files(spark, parts, model, tmp_path):
    path = str(tmp_path / "model of RG²")
    model.save(path)
    with pytest.raises(DataError, match="overwrite"):
        model.save(path)
    model.write().overwrite().save(path)
    loaded = RG2Model.load(path)
    assert loaded.getRankCol() == "rank"
    assert lists_of(loaded.recommendForAllUsers(4)) == lists_of(model.recommendForAllUsers(4))
    with pytest.raises(DataError, match="holds no model"):
        RG2Model.load(str(tmp_path))
    (tmp_path / "file").touch()
    with pytest.raises(DataError, match="cannot write in"):
        model.save(str(tmp_path / "file" / "model"))


def test_a_local_model_can_be_applied(spark, parts, tmp_path):
    for local, kind in (
        (tr.RG2(6, regularization=0.2).fit(parts[0]), RG2Model),
        (tr.WRMF(6, iterations=2).fit(parts[0]), FactorsModel),
    ):
        applied = from_local(local, spark)
        assert type(applied) is kind
        lists = lists_of(applied.recommendForAllUsers(5))
        assert agreement(local, lists, 5)[0] > 0.99
        applied.save(str(tmp_path / kind.__name__))
        assert lists_of(kind.load(str(tmp_path / kind.__name__)).recommendForAllUsers(5)) == lists
        found = evaluate(applied, frame_of(spark, parts[2]), k=10, metrics="ndcg")
        assert found["ndcg@10"] == pytest.approx(
            tr.evaluate(local, parts[2], k=10, metrics="ndcg")["ndcg@10"], rel=1e-5
        )
    with pytest.raises(ParameterError, match="has no vectors"):
        from_local(tr.EASE().fit(parts[0]), spark)


def test_files_of_a_fit_go_when_asked(spark, parts):
    from pathlib import Path

    fitted = IALS(rank=3, maxIter=1).fit(frame_of(spark, parts[0]))
    folder = Path(fitted.files.folder.path)
    assert folder.is_dir()
    fitted.unpersist()
    assert not folder.parent.exists()
