"""The estimators as parts of pyspark.ml."""

from __future__ import annotations

import pytest
from planted_frame import frame_of, lists_of

import taylorank as tr
from taylorank.errors import DataError, ParameterError
from taylorank.spark import IALS, RG2, IALSModel, RankingEvaluator, evaluate


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
    search = CrossValidator(estimator=estimator, estimatorParamMaps=grid, evaluator=judge, numFolds=2, seed=1)
    frame = frame_of(spark, data)
    found = search.fit(frame)
    assert len(fits) == 3  # one per fold, and the best on all data
    assert search.copy({search.parallelism: 2}).fit(frame).avgMetrics == found.avgMetrics
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
    assert (estimator.setParams(rank=9, tol=0.1).getRank(), estimator.getTol(), estimator.getRegParam()) == (
        9,
        0.1,
        0.3,
    )
    with pytest.raises(ParameterError, match="strengthCol"):
        estimator.setParams(ratingCol="count")
    with pytest.raises(TypeError):
        RG2(rank="many")


@pytest.mark.parametrize("kind", [RG2, IALS])
@pytest.mark.parametrize(
    ("name", "remedy"),
    [
        ("ratingCol", "strengthCol"),
        ("alpha", "unobservedWeight"),
        ("checkpointInterval", "leave it out"),
        ("colour", "choose from"),
    ],
)
def test_parameters_of_mllib_that_are_not_here_are_explained(kind, name, remedy):
    with pytest.raises(ParameterError, match=rf"{kind.__name__} has no parameter '{name}'; .*{remedy}") as error:
        kind(rank=3, **{name: 1})
    assert isinstance(error.value, AttributeError)  # what pyspark.ml raises


def test_what_is_no_frame_of_spark_is_named(data):
    with pytest.raises(DataError, match=r"pyarrow.*Table is no DataFrame of Spark; .*createDataFrame"):
        RG2(rank=2).fit(data.to_frame("pyarrow"))


@pytest.mark.parametrize(("estimator", "most"), [(RG2(rank=16), None), (IALS(rank=4, maxIter=6), 32)])
def test_a_fit_takes_tens_of_jobs(spark, data, estimator, most):
    """One for each pass or side, and a few to read the data and write the model."""
    context = spark.sparkContext
    context.setJobGroup(estimator.uid, "jobs of a fit")
    model = estimator.fit(frame_of(spark, data))
    context.setJobGroup("", "")
    jobs = len(context.statusTracker().getJobIdsForGroup(estimator.uid))
    assert model.facts.get("passes", 6) < jobs <= (most or model.facts["passes"] + 12)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"regParam": 1.5}, "regParam=1.5 is outside"),
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


def test_lists_of_ials(spark, data, tmp_path):
    model = IALS(rank=4, maxIter=2).fit(frame_of(spark, data))
    found = lists_of(model.recommendForAllUsers(3))
    model.save(str(tmp_path / "model"))
    assert lists_of(IALSModel.load(str(tmp_path / "model")).recommendForAllUsers(3)) == found
    local = model.to_local()
    ids, _ = local.recommend(sorted(found), n=3)
    assert [[item for item, _ in found[user]] for user in sorted(found)] == ids.tolist()
