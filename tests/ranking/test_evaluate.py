from __future__ import annotations

import json
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from taylorank.data import Ids, Interactions, planted
from taylorank.errors import DataError, DataWarning, LeakageWarning, ParameterError
from taylorank.kernels import top_k_scores
from taylorank.metrics import NAMES
from taylorank.models import RG2, load
from taylorank.ranking import Oracle, evaluate, evaluation, lists, recommend


@given(
    hnp.arrays(np.float32, (4, 9), elements=st.sampled_from([-np.inf, -1.5, -0.0, 0.0, 1.0, 2.5, np.inf])),
    st.integers(1, 12),
)
def test_top_k_agrees_with_a_stable_sort(scores, k):
    got = top_k_scores(scores, k)[0]
    for row, best_columns in zip(scores, got, strict=True):
        expected = [c for c in sorted(range(9), key=lambda c: (-row[c], c)) if row[c] > -np.inf][:k]
        assert best_columns.tolist() == expected + [-1] * (k - len(expected))


def slow_lists(model, test, masks, k):
    """(user, list, strengths of test items, candidates by falling score), one user after the other."""
    for user in test.user_ids.tolist():
        row = test.users.positions([user])[0]
        start, stop = test.by_user.indptr[row : row + 2]
        ids = test.items.take(test.by_user.indices[start:stop]).tolist()
        wanted = dict(zip(ids, test.strengths[start:stop].tolist(), strict=True))
        if not wanted:
            continue
        hidden = {i for mask in masks if user in mask.user_ids for i in mask.items_of(user).tolist()}
        scores = model.ranker.scores_of(np.array([model.ranker.users.positions([user])[0]]))[0]
        columns = sorted(range(len(scores)), key=lambda c: (-scores[c], c))
        ranked = [(model.ranker.items.values[c], scores[c]) for c in columns]
        ranked = [(i, s) for i, s in ranked if i not in hidden]
        yield user, [i for i, _ in ranked[:k]], wanted, ranked


def slow_evaluation(model, test, masks, k, train):
    """Every metric, by the definitions of docs/metrics.md."""
    cases = list(slow_lists(model, test, masks, k))
    per_item = np.bincount(train.by_user.indices, minlength=train.n_items)
    counts = dict(zip(train.item_ids.tolist(), per_item, strict=True))
    per_user = {name: [] for name in NAMES if name not in ("coverage", "gini", "ece", "ece_width", "precision_min")}
    shown = dict.fromkeys(model.ranker.items.values.tolist(), 0)
    pooled = [0, 0]
    for _, listed, wanted, ranked in cases:
        hits = [i in wanted for i in listed]
        R, found = len(wanted), sum(hits)
        dcg = sum(wanted[i] / np.log2(r + 2) for r, i in enumerate(listed) if i in wanted)
        ideal = sum(g / np.log2(r + 2) for r, g in enumerate(sorted(wanted.values(), reverse=True)[:k]))
        precisions = sum(sum(hits[: r + 1]) / (r + 1) for r in range(len(hits)) if hits[r])
        winners = [s for i, s in ranked if i in wanted]
        losers = [s for i, s in ranked if i not in wanted]
        won = sum((w > z) + 0.5 * (w == z) for w in winners for z in losers)
        values = {
            "ndcg": dcg / ideal,
            "dcg": dcg,
            "recall": found / R,
            "recall_min": found / min(k, R),
            "precision": found / k,
            "map": precisions / R,
            "map_min": precisions / min(k, R),
            "mrr": 1 / (hits.index(True) + 1) if found else 0,
            "hit_rate": float(found > 0),
            "novelty": np.mean([-np.log2(max(counts[i], 1) / train.nnz) for i in listed]),
            "popularity": np.mean([counts[i] for i in listed]),
            "auc": won / (R * len(losers)),
        }
        for name, value in values.items():
            per_user[name].append(value)
        for item in listed:
            shown[item] += 1
        pooled = [pooled[0] + found, pooled[1] + min(k, R)]
    places = np.array(list(shown.values()))
    differences = np.abs(places[:, None] - places[None, :]).mean() / (2 * places.mean())
    means = {name: float(np.mean(values)) for name, values in per_user.items()}
    means |= {"coverage": np.mean(places > 0), "gini": differences, "precision_min": pooled[0] / pooled[1]}
    return per_user, means


EXACT = tuple(name for name in NAMES if not name.startswith("ece"))


@pytest.fixture(scope="module")
def parts():
    data = planted(60, 30, interactions=600, random_state=2)
    rng = np.random.default_rng(3)
    graded = Interactions.from_arrays(
        data.users.take(data.by_user.row_of_entry()),
        data.items.take(data.by_user.indices),
        strengths=rng.integers(1, 5, data.nnz),
    )
    return graded.split(random_state=1)


@pytest.mark.parametrize("small_blocks", [False, True])
@pytest.mark.parametrize("kind", ["table", "products"])
def test_every_metric_agrees_with_one_user_at_a_time(kind, small_blocks, parts, request, monkeypatch):
    if small_blocks:
        monkeypatch.setattr(lists, "BLOCK_USERS", 7)
        monkeypatch.setattr(lists, "BLOCK_CELLS", 100)
    train, valid, test = parts
    scores = np.random.default_rng(0).integers(0, 12, (60, 30)).astype(np.float32)  # with many ties
    model = request.getfixturevalue(kind)(train, scores)
    for masks in ([train], [train, valid]):
        for k in (1, 5, 20):
            per_user, means = slow_evaluation(model, test, masks, k, train)
            got = evaluate(model, test, k=k, seen=masks, metrics=EXACT, gain="strength", per_user=True)
            for name, value in got.items():
                assert value == pytest.approx(means[name.partition("@")[0]], abs=1e-9), name
            for name, values in got.per_user.items():
                if not name.startswith("precision_min"):
                    np.testing.assert_allclose(values, per_user[name.partition("@")[0]], atol=1e-9, err_msg=name)


def test_the_first_of_equal_scores_is_the_smaller_id(table, products):
    train = Interactions.from_arrays([1, 1, 1, 2], [10, 20, 30, 10])
    for kind in (table, products):
        model = kind(train, np.zeros((2, 3), dtype=np.float32))
        assert evaluate(model, Interactions.from_arrays([2], [20]), k=1)["mrr@1"] == 1.0
        assert evaluate(model, Interactions.from_arrays([2], [30]), k=2)["mrr@2"] == 0.5
        assert recommend(model, [2], 2)[0].tolist() == [[20, 30]]


def test_ids_are_matched_not_positions(table):
    train = Interactions.from_arrays(["a", "b"], ["x", "y"])
    model = table(train, np.array([[0.0, 1.0], [1.0, 0.0]], dtype=np.float32))
    test = Interactions.from_arrays(["b", "a"], ["x", "zebra"])
    result = evaluate(model, test, k=1)
    assert result["recall@1"] == 0.5  # b gets x; the unknown zebra stays relevant for a
    assert result.users.unknown_items == 1


def test_unknown_test_users_are_left_out_with_a_warning(table):
    train = Interactions.from_arrays([1, 2], [1, 2])
    model = table(train, np.eye(2, dtype=np.float32)[::-1].copy())
    with pytest.warns(DataWarning, match="1 of 2 test users are unknown") as caught:
        result = evaluate(model, Interactions.from_arrays([1, 9], [2, 2]), k=1)
    assert caught[0].filename == __file__
    assert result["recall@1"] == 1.0
    assert result.users.skipped == {"no test items": 0, "unknown to the model": 1}
    with pytest.raises(DataError, match="none of the test users"):
        evaluate(model, Interactions.from_arrays([8], [2]))


def test_a_test_of_other_ids_is_refused_or_warned_of(table):
    train = Interactions.from_arrays(["a", "b"], [1, 2])
    model = table(train, np.zeros((2, 2), dtype=np.float32))
    with pytest.raises(DataError, match="the model's user ids are text, those of the test data integers"):
        evaluate(model, Interactions.from_arrays([1], [2]))
    with pytest.raises(DataError, match="the model's item ids are integers, those of the test data text"):
        evaluate(model, Interactions.from_arrays(["a"], ["2"]))
    with pytest.warns(DataWarning, match="none of the test items"):
        assert evaluate(model, Interactions.from_arrays(["a"], [7]))["ndcg@10"] == 0.0


def test_users_without_test_items_are_counted(table):
    train = Interactions.from_arrays([1, 2, 3], [1, 2, 1])
    model = table(train, np.zeros((3, 2), dtype=np.float32))
    test = train.select(np.array([False, True, False]), "one left")
    result = evaluate(model, test, k=1, seen=[], per_user=True)
    assert result.users.evaluated == 1
    assert result.users.without_items == 2
    assert result.user_ids.tolist() == [2]


def test_auc_compares_what_the_lists_are_made_of(parts):
    train, valid, test = parts
    lost = train.by_user.row_of_entry() == 7  # a user without history in training,
    few = train.select(~lost & (train.by_user.indices != 11), "less")  # and an item without interactions
    model = RG2(factors=4).fit(few)
    values = evaluate(model, test, seen=[few, valid], metrics="auc", per_user=True).per_user["auc"]
    expected = []
    for user in test.user_ids[test.by_user.row_lengths > 0].tolist():
        wanted = set(test.items_of(user).tolist())
        ids, scores = (row[0].tolist() for row in recommend(model, [user], 30, seen=[few, valid]))
        listed = [(i, s) for i, s in zip(ids, scores, strict=True) if i >= 0]
        losers = [s for i, s in listed if i not in wanted]
        won = sum((w > z) + 0.5 * (w == z) for i, w in listed if i in wanted for z in losers)
        expected.append(won / (len(wanted) * len(losers)))
    np.testing.assert_allclose(values, expected, atol=1e-9)


def test_long_lists_are_held_for_fewer_users_at_a_time(parts, products, monkeypatch):
    train, _, test = parts
    model = products(train, np.random.default_rng(0).random((60, 30)).astype(np.float32))
    expected, sizes = evaluate(model, test, k=20), []
    monkeypatch.setattr(evaluation, "LIST_CELLS", 100)
    got = evaluate(model, test, k=20, num_threads=1, progress=lambda report: sizes.append(report.done))
    assert sizes[:2] == [5, 10]
    assert got == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("kind", ["table", "products"])
@pytest.mark.parametrize("metrics", ["ndcg", "auc"])
def test_scores_that_are_no_numbers_name_model_and_user(kind, metrics, request):
    train = Interactions.from_arrays(["ann", "bob", "eve"], ["x", "y", "z"])
    scores = np.ones((3, 3), dtype=np.float32)
    scores[1, 0] = np.nan
    model = request.getfixturevalue(kind)(train, scores)
    with pytest.raises(DataError, match=f"{type(model).__name__} gives user 'bob' a score that is not a number; fit"):
        evaluate(model, train, seen=[], metrics=metrics)


def test_infinite_scores_are_ranked(table):
    train = Interactions.from_arrays([1, 1, 1], [1, 2, 3])
    model = table(train, np.array([[-np.inf, 0.0, np.inf]], dtype=np.float32))
    result = evaluate(model, Interactions.from_arrays([1, 1], [1, 3]), k=3, seen=[])
    assert result["mrr@3"] == 1.0
    assert result["recall@3"] == 0.5  # −inf takes an item out


def test_bad_input_is_refused(table):
    train = Interactions.from_arrays([1, 2], [1, 2])
    model = table(train, np.zeros((2, 5), dtype=np.float32))
    with pytest.raises(DataError, match=r"Table gives an array of shape \(2, 5\) for 2 users; return \(2, 2\)"):
        evaluate(model, train, seen=[])
    for options, words in [
        ({"k": ()}, "cutoff"),
        ({"metrics": "ncdg"}, "no metric is called 'ncdg'"),
        ({"gain": "square"}, "gain='square'"),
        ({"confidence": 95}, "between 0 and 1"),
        ({"confidence": 0.9, "resamples": 0}, "resamples=0"),
        ({"metrics": "ece"}, "Table gives no probabilities"),
    ]:
        with pytest.raises(ParameterError, match=words):
            evaluate(model, train, seen=[], **options)
    with pytest.raises(DataError, match="no interactions"):
        evaluate(model, train.select(np.zeros(2, dtype=bool), "emptied"))


def test_a_cutoff_beyond_the_catalogue_counts_all_ranks(table, products):
    train = Interactions.from_arrays([1, 1, 2], [1, 2, 3])
    for kind in (table, products):
        model = kind(train, np.zeros((2, 3), dtype=np.float32))
        result = evaluate(model, Interactions.from_arrays([2], [1]), k=10, metrics=EXACT)
        assert result["precision@10"] == pytest.approx(0.1)
        assert result["recall@10"] == 1.0
        assert result["coverage@10"] == pytest.approx(2 / 3)
        assert result["popularity@10"] == 1.0


def test_a_user_who_has_seen_everything_has_an_empty_list(table):
    train = Interactions.from_arrays([1, 1, 2], [1, 2, 1])
    model = table(train, np.zeros((2, 2), dtype=np.float32))
    with pytest.warns(LeakageWarning, match="3 of 3 test pairs"):
        result = evaluate(model, train, k=1, seen=[train], metrics=EXACT, per_user=True, confidence=0.9, resamples=20)
    assert result["ndcg@1"] == 0.0
    assert np.isnan(result.per_user["novelty@1"]).tolist() == [True, False]
    assert np.isnan(result.per_user["auc"][0])  # nothing to be compared with
    assert result.per_user["auc"][1] == 0.0  # a relevant item that is hidden loses
    assert result["popularity@1"] == 1.0


def test_means_are_a_dictionary_and_carry_the_rest(parts, table):
    train, _, test = parts
    model = table(train, np.random.default_rng(0).random((60, 30)).astype(np.float32))
    plain = evaluate(model, test, k=5)
    assert plain.user_ids is None
    assert not plain.per_user
    assert not plain.intervals
    assert json.loads(json.dumps(plain)) == dict(plain) == pickle.loads(pickle.dumps(plain))
    with pytest.raises(ParameterError, match="per_user=True"):
        plain.to_frame()
    done = []
    names = ("ndcg", "coverage")
    full = evaluate(
        model,
        test,
        k=5,
        metrics=names,
        per_user=True,
        confidence=0.9,
        random_state=4,
        progress=lambda report: done.append((report.done, report.total)),
    )
    assert done[-1] == (full.users.evaluated, full.users.evaluated)
    assert list(full.intervals) == ["ndcg@5"]
    assert full["ndcg@5"] == plain["ndcg@5"]
    frame = full.to_frame("polars")
    assert frame.columns == ["user", "ndcg@5"]
    assert frame["user"].to_list() == full.user_ids.tolist()
    assert frame["ndcg@5"].mean() == pytest.approx(full["ndcg@5"])
    low, high = full.intervals["ndcg@5"]
    assert low < full["ndcg@5"] < high
    assert evaluate(model, test, k=5, metrics="ndcg", confidence=0.9, random_state=4).intervals["ndcg@5"] == (low, high)
    assert evaluate(model, test, k=5, metrics="ndcg", confidence=0.9, random_state=5).intervals["ndcg@5"] != (low, high)
    wider = evaluate(model, test, k=5, metrics="ndcg", confidence=0.99, random_state=4).intervals["ndcg@5"]
    assert wider[0] < low < high < wider[1]


def test_exponential_gains_of_strengths(parts, table):
    train, _, test = parts
    model = table(train, np.random.default_rng(1).random((60, 30)).astype(np.float32))
    powered = Interactions.from_arrays(
        test.users.take(test.by_user.row_of_entry()),
        test.items.take(test.by_user.indices),
        strengths=2.0**test.strengths - 1,
    )
    ours = evaluate(model, test, k=5, metrics=("dcg", "ndcg"), gain="exponential")
    assert ours == pytest.approx(evaluate(model, powered, k=5, metrics=("dcg", "ndcg"), gain="strength"))
    assert ours["dcg@5"] > evaluate(model, test, k=5, metrics="dcg")["dcg@5"]


def test_popularity_is_counted_where_one_says(parts, table):
    train, valid, test = parts
    model = table(train, np.random.default_rng(1).random((60, 30)).astype(np.float32))
    ours = evaluate(model, test, k=5, metrics="popularity", counts=valid)["popularity@5"]
    counts = dict(zip(valid.item_ids.tolist(), np.bincount(valid.by_user.indices, minlength=30), strict=True))
    lists = [listed for _, listed, _, _ in slow_lists(model, test, [train], 5)]
    assert ours == pytest.approx(np.mean([[counts[i] for i in listed] for listed in lists]))


def test_the_oracle_beats_every_other_ranking(table):
    train, valid, test = planted(300, 80, interactions=5000, random_state=1).split()
    top = evaluate(Oracle(train), test, seen=[train, valid])["ndcg@10"]
    rng = np.random.default_rng(0)
    truth = Oracle(train).scores(np.arange(300))
    for noise in (1.0, 3.0):
        blurred = table(train, (truth + noise * rng.standard_normal(truth.shape)).astype(np.float32))
        assert evaluate(blurred, test, seen=[train, valid])["ndcg@10"] < top
    with pytest.raises(DataError, match="truth"):
        Oracle(Interactions.from_arrays([1], [1])).scores(np.array([0]))


def test_recommend_masks_allows_forbids_and_pads(table):
    train = Interactions.from_arrays(["a", "a", "b"], ["w", "x", "y"])
    model = table(train, np.array([[4.0, 3.0, 2.0], [4.0, 3.0, 2.0]], dtype=np.float32))
    ids, scores = recommend(model, ["a", "b"], 3)
    assert ids.tolist() == [["y", "", ""], ["w", "x", ""]]
    assert scores[1, :2].tolist() == [4.0, 3.0]
    assert np.isnan(scores[1, 2])
    assert recommend(model, ["b"], 1, items=["x"])[0].tolist() == [["x"]]
    assert recommend(model, ["b"], 1, exclude=["w", "unknown"])[0].tolist() == [["x"]]
    nothing = train.select(np.zeros(3, dtype=bool), "emptied")
    assert recommend(model, ["a"], 1, seen=nothing)[0].tolist() == [["w"]]
    with pytest.raises(ParameterError, match="not a list"):
        recommend(model, "a", 1)
    assert isinstance(model.ranker.users, Ids)


@pytest.mark.parametrize("metric", ["novelty@5", "popularity@5"])
def test_a_model_without_its_training_data_does_not_invent_popularity(metric, tmp_path):
    train, _, test = planted(60, 40, interactions=900).split()
    model = RG2(factors=4).fit(train)
    model.save(tmp_path / "model.tr", with_seen=False)
    bare = load(tmp_path / "model.tr")
    with pytest.raises(ParameterError, match="no training data to count item popularity"):
        evaluate(bare, test, metrics=metric, seen=train)
    assert evaluate(bare, test, metrics=metric, seen=train, counts=train) == evaluate(model, test, metrics=metric)
