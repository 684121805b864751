"""Metrics of lists: values worked by hand, one user at a time in plain Python, and other libraries."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from taylorank.metrics import METRICS, WEIGHTS, Judged, gain_of, weighted_mean

HITS = np.array([[True, False, True], [False, False, False], [False, True, True]])
RELEVANT = np.array([2, 1, 5])
LOG3 = 1 / math.log2(3)


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("precision", [2 / 3, 0, 2 / 3]),
        ("precision_min", [1, 0, 2 / 3]),
        ("recall", [1, 0, 2 / 5]),
        ("recall_min", [1, 0, 2 / 3]),
        ("hit_rate", [1, 0, 1]),
        ("mrr", [1, 0, 1 / 2]),
        ("map", [(1 + 2 / 3) / 2, 0, (1 / 2 + 2 / 3) / 5]),
        ("map_min", [(1 + 2 / 3) / 2, 0, (1 / 2 + 2 / 3) / 3]),
        ("dcg", [1 + 1 / 2, 0, LOG3 + 1 / 2]),
        ("ndcg", [(1 + 1 / 2) / (1 + LOG3), 0, (LOG3 + 1 / 2) / (1 + LOG3 + 1 / 2)]),
    ],
)
def test_values_worked_by_hand(name, values):
    np.testing.assert_allclose(METRICS[name](Judged(HITS, RELEVANT)), values)


def test_gains_worked_by_hand():
    graded = Judged(
        np.array([[True, False, True]]),
        np.array([3]),
        gains=np.array([[1.0, 0.0, 3.0]]),
        ideal=np.array([[3.0, 2.0, 1.0]]),
    )
    np.testing.assert_allclose(METRICS["dcg"](graded), [1 + 3 / 2])
    np.testing.assert_allclose(METRICS["ndcg"](graded), [(1 + 3 / 2) / (3 + 2 * LOG3 + 1 / 2)])
    np.testing.assert_allclose(METRICS["ndcg"](graded.at(1)), [1 / 3])
    np.testing.assert_allclose(METRICS["recall"](graded), [2 / 3])  # only DCG and NDCG know gains
    nothing = Judged(HITS[:1], RELEVANT[:1], gains=np.zeros((1, 3)), ideal=np.zeros((1, 3)))
    assert METRICS["ndcg"](nothing).tolist() == [0.0]
    assert gain_of(np.array([2.0]), "exponential").tolist() == [3.0]
    assert gain_of(np.array([2.0]), "strength").tolist() == [2.0]
    assert gain_of(np.array([2.0]), "binary").tolist() == [1.0]


def test_novelty_and_popularity_worked_by_hand():
    counts = np.array([[4.0, 2.0, np.nan], [0.0, 8.0, 8.0], [np.nan] * 3])
    judged = Judged(HITS, RELEVANT, counts=counts, total=32.0)
    np.testing.assert_allclose(METRICS["popularity"](judged), [3, 16 / 3, np.nan])
    np.testing.assert_allclose(METRICS["novelty"](judged), [3.5, (5 + 2 + 2) / 3, np.nan])
    assert weighted_mean(METRICS["popularity"](judged)) == pytest.approx((3 + 16 / 3) / 2)
    assert math.isnan(weighted_mean(np.array([np.nan])))


def test_precision_min_is_one_fraction_over_all_users():
    judged = Judged(HITS, RELEVANT)
    values, weights = METRICS["precision_min"](judged), WEIGHTS["precision_min"](judged)
    assert weighted_mean(values, weights) == pytest.approx(4 / (2 + 1 + 3))


def slow(name, ranked, gains, k):
    """One user: `ranked` items best first, `gains` of the relevant ones."""
    ranked, R = ranked[:k], len(gains)
    hits = [i for i, item in enumerate(ranked) if item in gains]
    discounted = sum(gains[ranked[i]] / math.log2(i + 2) for i in hits)
    ideal = sum(g / math.log2(i + 2) for i, g in enumerate(sorted(gains.values(), reverse=True)[:k]))
    precisions = sum(sum(ranked[j] in gains for j in range(i + 1)) / (i + 1) for i in hits)
    return {
        "dcg": discounted,
        "ndcg": discounted / ideal,
        "recall": len(hits) / R,
        "recall_min": len(hits) / min(k, R),
        "precision": len(hits) / k,
        "hit_rate": float(bool(hits)),
        "mrr": 1 / (hits[0] + 1) if hits else 0.0,
        "map": precisions / R,
        "map_min": precisions / min(k, R),
    }[name]


OF_LISTS = ("dcg", "ndcg", "recall", "recall_min", "precision", "hit_rate", "mrr", "map", "map_min")


def judged_lists(cases, k):
    """`Judged` from (ranked, gains) of several users, in plain Python."""
    hits = np.zeros((len(cases), k), dtype=bool)
    gains, ideal = np.zeros(hits.shape), np.zeros(hits.shape)
    for x, (ranked, gain) in enumerate(cases):
        for i, item in enumerate(ranked[:k]):
            hits[x, i], gains[x, i] = item in gain, gain.get(item, 0.0)
        best = sorted(gain.values(), reverse=True)[:k]
        ideal[x, : len(best)] = best
    return Judged(hits, np.array([len(gain) for _, gain in cases]), gains=gains, ideal=ideal)


@st.composite
def users(draw):
    ranked = draw(st.permutations(range(draw(st.integers(1, 12)))))
    relevant = draw(st.sets(st.integers(0, 15), min_size=1))
    return list(ranked), {item: float(draw(st.integers(1, 4))) for item in relevant}


@given(st.lists(users(), min_size=1, max_size=5), st.integers(1, 14))
def test_blocks_agree_with_one_user_at_a_time(cases, k):
    judged = judged_lists(cases, 14).at(k)
    for name in OF_LISTS:
        expected = [slow(name, ranked, gains, k) for ranked, gains in cases]
        np.testing.assert_allclose(METRICS[name](judged), expected, rtol=1e-12, err_msg=name)


def random_cases(seed, *, users=150, items=60, graded=True):
    rng = np.random.default_rng(seed)
    cases = []
    for _ in range(users):
        ranked = rng.permutation(items)[: rng.integers(1, items)].tolist()
        relevant = rng.choice(items + 10, size=rng.integers(1, 25), replace=False).tolist()
        cases.append((ranked, {item: float(rng.integers(1, 5)) if graded else 1.0 for item in relevant}))
    return cases


def by_name(cases, *, cut=None):
    """The same cases as nested dictionaries, with ranks as scores so that there are no ties."""
    qrels = {f"u{x}": {str(i): int(g) for i, g in gains.items()} for x, (_, gains) in enumerate(cases)}
    run = {
        f"u{x}": {str(i): float(-rank) for rank, i in enumerate(ranked[:cut])} for x, (ranked, _) in enumerate(cases)
    }
    return qrels, run


def exponential(judged):
    return Judged(judged.hits, judged.relevant, gains=np.exp2(judged.gains) - 1, ideal=np.exp2(judged.ideal) - 1)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("k", [1, 5, 10, 100])
def test_trec_eval_agrees(seed, k):
    pytrec_eval = pytest.importorskip("pytrec_eval")
    cases = random_cases(seed)
    judged = judged_lists(cases, k)
    names = {
        "ndcg": f"ndcg_cut_{k}",
        "recall": f"recall_{k}",
        "precision": f"P_{k}",
        "map": f"map_cut_{k}",
        "hit_rate": f"success_{k}",
        "mrr": "recip_rank",
    }
    measures = {name.rpartition("_")[0] + f".{k}" if name[-1].isdigit() else name for name in names.values()}
    qrels, run = by_name(cases, cut=k)  # recip_rank has no cutoff of its own
    found = pytrec_eval.RelevanceEvaluator(qrels, measures).evaluate(run)
    for ours, theirs in names.items():
        expected = [found[f"u{x}"][theirs] for x in range(len(cases))]
        np.testing.assert_allclose(METRICS[ours](judged), expected, atol=1e-6, err_msg=ours)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("graded", [True, False])
def test_ranx_agrees(graded):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ranx = pytest.importorskip("ranx")
        for seed in range(10):
            cases = random_cases(seed, graded=graded)
            qrels, run = by_name(cases)
            theirs = ranx.Qrels(qrels), ranx.Run(run)
            for k in (1, 5, 20):
                names = ["ndcg", "dcg", "recall", "precision", "map", "mrr", "hit_rate", "ndcg_burges", "dcg_burges"]
                ranx.evaluate(*theirs, [f"{name}@{k}" for name in names])
                judged = judged_lists(cases, k)
                for name in names:
                    kind = exponential(judged) if name.endswith("burges") else judged
                    ours = METRICS[name.removesuffix("_burges")](kind)
                    expected = [theirs[1].scores[f"{name}@{k}"][f"u{x}"] for x in range(len(cases))]
                    np.testing.assert_allclose(ours, expected, atol=1e-6, err_msg=f"{name}@{k}, seed {seed}")
