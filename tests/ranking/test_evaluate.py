from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from taylorank.data import Ids, Interactions, planted
from taylorank.errors import DataError, DataWarning, ParameterError
from taylorank.ranking import Oracle, evaluate, recommend, top_k


@dataclass(frozen=True)
class Table:
    """A model that is its matrix of scores."""

    seen: Interactions
    values: np.ndarray

    @property
    def users(self):
        return self.seen.users

    @property
    def items(self):
        return self.seen.items

    def scores(self, users):
        return self.values[users]


@given(
    hnp.arrays(np.float32, (4, 9), elements=st.sampled_from([-np.inf, -1.5, -0.0, 0.0, 1.0, 2.5, np.inf])),
    st.integers(1, 12),
)
def test_top_k_agrees_with_a_stable_sort(scores, k):
    got = top_k(scores, k)
    for row, best in zip(scores, got, strict=True):
        expected = [c for c in sorted(range(9), key=lambda c: (-row[c], c)) if row[c] > -np.inf][:k]
        assert best.tolist() == expected + [-1] * (min(k, 9) - len(expected))


def naive_ndcg(model, test, masks, k):
    """One user after the other, with dictionaries."""
    values = []
    for user in test.user_ids.tolist():
        wanted = set(test.items_of(user).tolist())
        if not wanted:
            continue
        hidden = {i for mask in masks if user in mask.user_ids for i in mask.items_of(user).tolist()}
        row = model.scores(np.array([model.users.positions([user])[0]]))[0]
        ranked = sorted(range(len(row)), key=lambda c: (-row[c], c))
        ranked = [i for i in model.item_ids[ranked].tolist() if i not in hidden][:k]
        gained = sum(1 / np.log2(r + 2) for r, i in enumerate(ranked) if i in wanted)
        values.append(gained / sum(1 / np.log2(r + 2) for r in range(min(k, len(wanted)))))
    return float(np.mean(values))


def test_evaluate_agrees_with_one_user_at_a_time():
    train, valid, test = planted(60, 30, interactions=600, seed=2).split()
    model = Table(train, np.random.default_rng(0).random((60, 30)).astype(np.float32))
    object.__setattr__(model, "item_ids", train.item_ids)
    for masks in ([train], [train, valid]):
        for k in (1, 5, 20):
            got = evaluate(model, test, k=k, seen=masks)[f"ndcg@{k}"]
            assert got == pytest.approx(naive_ndcg(model, test, masks, k), abs=1e-12)


def test_ids_are_matched_not_positions():
    train = Interactions.from_arrays(["a", "b"], ["x", "y"])
    model = Table(train, np.array([[0.0, 1.0], [1.0, 0.0]], dtype=np.float32))
    test = Interactions.from_arrays(["b", "a"], ["x", "zebra"])
    result = evaluate(model, test, k=1)
    assert result["recall@1"] == 0.5  # b gets x; nobody knows the zebra, which stays relevant for a


def test_unknown_test_users_are_left_out_with_a_warning():
    train = Interactions.from_arrays([1, 2], [1, 2])
    model = Table(train, np.eye(2, dtype=np.float32)[::-1].copy())
    with pytest.warns(DataWarning, match="1 of 2 test users are unknown"):
        assert evaluate(model, Interactions.from_arrays([1, 9], [2, 2]), k=1)["recall@1"] == 1.0
    with pytest.raises(DataError, match="none of the test users"):
        evaluate(model, Interactions.from_arrays([8], [2]))


def test_bad_input_is_refused():
    train = Interactions.from_arrays([1, 2], [1, 2])
    model = Table(train, np.full((2, 2), np.nan, dtype=np.float32))
    with pytest.raises(DataError, match="NaN"):
        evaluate(model, train)
    with pytest.raises(ParameterError, match="cutoff"):
        evaluate(model, train, k=())
    with pytest.raises(DataError, match="no interactions"):
        evaluate(model, train.select(np.zeros(2, dtype=bool), "emptied"))


def test_a_cutoff_beyond_the_catalogue_counts_all_ranks():
    train = Interactions.from_arrays([1, 1, 2], [1, 2, 3])
    model = Table(train, np.zeros((2, 3), dtype=np.float32))
    result = evaluate(model, Interactions.from_arrays([2], [1]), k=10)
    assert result["precision@10"] == pytest.approx(0.1)
    assert result["recall@10"] == 1.0


def test_the_oracle_beats_every_other_ranking():
    train, valid, test = planted(300, 80, interactions=5000, seed=1).split()
    best = evaluate(Oracle(train), test, seen=[train, valid])["ndcg@10"]
    rng = np.random.default_rng(0)
    truth = Oracle(train).scores(np.arange(300))
    for noise in (1.0, 3.0):
        blurred = Table(train, (truth + noise * rng.standard_normal(truth.shape)).astype(np.float32))
        assert evaluate(blurred, test, seen=[train, valid])["ndcg@10"] < best
    with pytest.raises(DataError, match="truth"):
        Oracle(Interactions.from_arrays([1], [1])).scores(np.array([0]))


def test_recommend_masks_allows_forbids_and_pads():
    train = Interactions.from_arrays(["a", "a", "b"], ["w", "x", "y"])
    model = Table(train, np.array([[4.0, 3.0, 2.0], [4.0, 3.0, 2.0]], dtype=np.float32))
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
    assert isinstance(model.users, Ids)


def test_masks_of_another_id_type_are_refused():
    train = Interactions.from_arrays([1, 2], [1, 2])
    model = Table(train, np.zeros((2, 2), dtype=np.float32))
    texts = Interactions.from_arrays(["1", "2"], ["1", "2"])
    for call in (lambda: evaluate(model, train, seen=texts), lambda: recommend(model, [1], 1, seen=texts)):
        with pytest.raises(DataError, match="the model's user ids are integers, those of `seen` text"):
            call()
    assert recommend(model, [1], 2, seen=[train, Interactions.from_arrays([1], [2])])[0].tolist() == [[-1, -1]]
    assert evaluate(model, train, k=np.int64(1), seen=[])
