from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from taylorank.data import Interactions, check_leakage, merge, planted
from taylorank.data.tail import split_tail
from taylorank.errors import DataError, LeakageWarning, ParameterError
from taylorank.metrics import wanted_metrics
from taylorank.models import IALS, RG2, Popularity
from taylorank.ranking import evaluate
from taylorank.ranking.protocols import PROTOCOLS, HeldOutUsers, protocol


def whole():
    """Planted data; no two interactions are at the same moment."""
    return planted(150, 50, interactions=2500, random_state=0)


def data_for(name):
    data = whole()
    return data.split((0.8, 0.2), random_state=9) if name == "published" else data


def pairs(*parts):
    return {(u, i) for part in parts for u in part.user_ids.tolist() for i in part.items_of(u).tolist()}


@pytest.mark.parametrize("name", PROTOCOLS)
def test_parts_do_not_overlap_and_what_was_fitted_is_hidden(name):
    one = protocol(name)
    assert one.name == name
    parts = one.prepare(data_for(name), random_state=3)
    assert check_leakage(parts.train, parts.valid, parts.test, order="any") == []
    assert all(check_leakage(hidden, parts.test, order="any") == [] for hidden in parts.seen_test)
    assert all(check_leakage(hidden, parts.valid, order="any") == [] for hidden in parts.seen_valid)
    assert not pairs(parts.full_train) & pairs(parts.test)
    assert pairs(parts.train) <= pairs(parts.full_train)
    labels = [str(w) for w in wanted_metrics(one.metrics, 1)]
    assert sorted(labels) == sorted(one.metrics)
    assert one.chooses in one.metrics


@pytest.mark.parametrize("name", PROTOCOLS)
def test_the_seed_decides(name):
    one, data = protocol(name), data_for(name)
    first, again, other = (one.prepare(data, seed) for seed in (1, 1, 2))
    assert first.valid == again.valid
    assert first.test == again.test
    if name not in ("leave-one-out", "latest", "published"):  # all moments differ here, so time decides
        assert first.valid != other.valid


def test_latest_cuts_each_history_in_its_order():
    data = whole()
    parts = protocol("latest").prepare(data, 4)
    assert (parts.train, parts.valid, parts.test) == split_tail(data)
    assert parts.full_train == merge(parts.train, parts.valid)
    assert [len(part.items_of(user)) for part in parts.seen_test for user in (3,)] == [
        len(parts.train.items_of(3)) + len(parts.valid.items_of(3))
    ]


def test_a_published_split_validates_on_the_last_tenth_where_times_are_known():
    train, test = whole().split((0.8, 0.2), random_state=9)
    parts = protocol("published").prepare((train, test), 4)
    assert (parts.train, parts.valid) == split_tail(train, (0.9, 0.1))
    timeless = replace(train, timestamps=None)
    parts = protocol("published").prepare((timeless, test), 4)
    assert (parts.train, parts.valid) == timeless.split((0.9, 0.1), random_state=4)


def test_papers_hide_train_and_validation_in_the_test():
    data = whole()
    parts = protocol("papers").prepare(data, 4)
    train, valid, test = data.split(random_state=4)
    assert (parts.train, parts.valid, parts.test) == (train, valid, test)
    assert parts.seen_valid == (train,)
    assert parts.seen_test == (train, valid)
    assert parts.full_train is parts.train
    assert not parts.refit
    model = RG2(factors=4).fit(parts.train)
    one = protocol("papers")
    ours = parts.evaluate(model, "test", metrics=one.metrics, confidence=0.9)
    assert ours == evaluate(model, test, seen=[train, valid], metrics=one.metrics)
    assert set(ours.intervals) == set(one.metrics)
    assert parts.evaluate(model, "valid", k=10) == evaluate(model, valid, seen=train, k=10)


def test_leave_one_out_takes_the_last_two():
    parts = protocol("leave-one-out").prepare(whole())
    assert set(parts.test.by_user.row_lengths.tolist()) <= {0, 1}
    assert check_leakage(parts.train, parts.valid, parts.test, order="user") == []


def test_leave_one_out_fits_the_chosen_to_all_but_the_last():
    data = whole()
    parts = protocol("leave-one-out").prepare(data)
    assert parts.refit
    assert pairs(parts.full_train) == pairs(data) - pairs(parts.test) == pairs(parts.train) | pairs(parts.valid)
    assert parts.full_train.timestamps is not None  # sequences need them
    assert parts.seen_test == (parts.full_train,)


def test_held_out_users_are_folded_in(table):
    parts = HeldOutUsers(ratios=(0.7, 0.1, 0.2)).prepare(planted(1000, 100, interactions=30_000, random_state=0), 0)
    held = np.flatnonzero(parts.test.by_user.row_lengths)
    assert not parts.train.by_user.row_lengths[held].any()
    assert parts.seen_test == (parts.fold_test,)
    for model in (RG2(factors=4).fit(parts.train), IALS(factors=4, iterations=3).fit(parts.train)):
        ours = parts.evaluate(model, "test", metrics=("recall_min@20", "ndcg@100", "popularity@5"))
        folded = model.fold_in(parts.fold_test)
        theirs = evaluate(folded, parts.test, seen=parts.fold_test, metrics=("recall_min@20", "ndcg@100"))
        assert {name: ours[name] for name in theirs} == theirs
        counts = np.bincount(parts.train.by_user.indices, minlength=parts.train.n_items)
        assert ours["popularity@5"] <= counts.max()
        assert ours["popularity@5"] > np.bincount(parts.fold_test.by_user.indices).max()  # training counts, not these
        without = evaluate(model, parts.test, seen=parts.fold_test, metrics="ndcg@100")  # popular items for all
        assert ours["ndcg@100"] != pytest.approx(without["ndcg@100"], rel=1e-3)
    with pytest.raises(ParameterError, match="Table cannot fold in new users"):
        parts.evaluate(table(parts.train, np.zeros(parts.train.matrix.shape, dtype=np.float32)), "valid")


def test_a_published_split_is_kept_and_the_model_fitted_again():
    train, test = data_for("published")
    parts = protocol("published").prepare((train, test), 0)
    assert parts.test == test
    assert parts.full_train == train
    assert parts.refit
    assert parts.seen_test == (train,)
    assert pairs(parts.train, parts.valid) == pairs(train)
    assert parts.valid.nnz == pytest.approx(0.1 * train.nnz, rel=0.5)
    with pytest.warns(LeakageWarning):
        protocol("published").prepare((train, train))


def test_parts_read_apart_come_together_by_id():
    train = Interactions.from_arrays(["a", "a", "a", "b", "b"], ["x", "y", "z", "x", "y"])
    test = Interactions.from_arrays(["c", "b"], ["x", "w"])
    parts = protocol("published").prepare((train, test))
    assert parts.test.users == parts.train.users == parts.full_train.users
    assert pairs(parts.test) == {("c", "x"), ("b", "w")}


def test_bad_input_is_refused():
    data = planted(30, 20, interactions=200)
    with pytest.raises(ParameterError, match="no protocol is called 'paper'; choose from papers"):
        protocol("paper")
    with pytest.raises(DataError, match="needs two parts"):
        protocol("published").prepare(data)
    with pytest.raises(DataError, match="unsplit"):
        protocol("papers").prepare((data, data))
    with pytest.raises(DataError, match="timestamps"):
        protocol("leave-one-out").prepare(Interactions.from_arrays([1, 1, 1], [1, 2, 3]))
    with pytest.raises(ParameterError, match="phase='train'"):
        protocol("papers").prepare(data).evaluate(Popularity().fit(data), "train")
