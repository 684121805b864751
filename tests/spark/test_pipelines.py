"""The estimators as parts of pyspark.ml."""

from __future__ import annotations

import pytest
from planted_frame import frame_of, lists_of

import taylorank as tr
from taylorank.errors import DataError, ParameterError
from taylorank.spark import IALS, RG2, RankingEvaluator, evaluate


@pytest.fixture(scope="module")
def data():
    return tr.planted(200, 80, interactions=3000, random_state=5)


def test_a_pipeline_is_fitted_saved_and_loaded(spark, data, tmp_path):
    from pyspark.ml import Pipeline, PipelineModel
    from pyspark.ml.feature import SQLTransformer

    clean = SQLTransformer(statement="SELECT concat('u', user) AS user, item FROM __THIS__")
    fitted = Pipeline(stages=[clean, RG2(rank=4)]).fit(frame_of(spark, data))
    fitted.save(str(tmp_path / "pipeline"))
    loaded = PipelineModel.load(str(tmp_path / "pipeline"))
    frame = frame_of(spark, data).limit(20)
    assert loaded.transform(frame).collect() == fitted.transform(frame).collect()
    Pipeline(stages=[IALS(rank=3)]).save(str(tmp_path / "plan"))
    assert Pipeline.load(str(tmp_path / "plan")).getStages()[0].getRank() == 3


def test_cross_validation_over_the_path_fits_once_per_fold(spark, data, monkeypatch):
    from pyspark.ml.tuning import CrossValidator, ParamGridBuilder

    fits = []
    whole = RG2._fit
    monkeypatch.setattr(RG2, "_fit", lambda self, frame: fits.append(1) or whole(self, frame))
    estimator = RG2(rankCol="rank", rank=8)
    grid = ParamGridBuilder().addGrid(estimator.rank, [2, 8]).addGrid(estimator.regParam, [0.0, 0.8]).build()
    judge = RankingEvaluator(metricName="recall@10")
    found = CrossValidator(estimator=estimator, estimatorParamMaps=grid, evaluator=judge, numFolds=2, seed=1).fit(
        frame_of(spark, data)
    )
    assert len(fits) == 3  # one per fold, and the best on all data
    assert len(set(found.avgMetrics)) > 1
    best = grid[max(range(4), key=lambda number: found.avgMetrics[number])]
    assert found.bestModel.getRank() == best[estimator.rank]


def test_the_evaluator_gives_what_evaluate_gives(spark, data):
    train, test = data.split((0.8, 0.2), random_state=0)
    model = RG2(rank=4, rankCol="place").fit(frame_of(spark, train))
    frame = frame_of(spark, test)
    known = evaluate(model, frame, k=10)
    for name in ("ndcg@10", "recall@10", "mrr@10", "map@10"):
        judge = RankingEvaluator(metricName=name, rankCol="place")
        assert judge.evaluate(model.transform(frame)) == pytest.approx(known[name])
    with pytest.raises(DataError, match="rankCol"):
        RankingEvaluator().evaluate(model.transform(frame))
    with pytest.raises(ParameterError, match="no metric of ranks"):
        RankingEvaluator(metricName="gini@10", rankCol="place").evaluate(model.transform(frame))


def test_parameters_are_those_of_pyspark_ml():
    estimator = RG2(rank=5).setRegParam(0.3).setUserCol("who")
    assert (estimator.getRank(), estimator.getRegParam(), estimator.getUserCol()) == (5, 0.3, "who")
    assert "proposalExponent" in estimator.explainParams()
    assert estimator.copy({estimator.rank: 7}).getRank() == 7
    with pytest.raises(TypeError):
        RG2(rank="many")


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"regParam": 1.5}, "outside"),
        ({"rank": 0}, "below 1"),
        ({"coldStartStrategy": "keep"}, "nan or drop"),
        ({"duplicates": "last"}, "max or sum"),
        ({"ranking": "best"}, "probability"),
        ({"rank": 1000}, "at most"),
        ({"userCol": "nobody"}, "no column"),
        ({"strengthCol": "weight"}, "no column"),
    ],
)
def test_wrong_parameters_are_refused_in_one_line(spark, wrong, message):
    frame = spark.createDataFrame([(1, 2), (2, 3)], "user long, item long")
    with pytest.raises((ParameterError, DataError), match=message) as error:
        RG2(**wrong).fit(frame)
    assert "\n" not in str(error.value)


def test_lists_of_ials(spark, data):
    model = IALS(rank=4, maxIter=2).fit(frame_of(spark, data))
    found = lists_of(model.recommendForAllUsers(3))
    local = model.to_local()
    ids, _ = local.recommend(sorted(found), n=3)
    assert [[item for item, _ in found[user]] for user in sorted(found)] == ids.tolist()
