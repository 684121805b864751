"""Comparisons are read and written with or without each user's values, and joined only if they were made alike."""

from __future__ import annotations

import copy

import pytest

import taylorank as tr
from taylorank.errors import DataError
from taylorank.report.tables import significance_table
from taylorank.report.words import further_sentences, lead_sentence, mark_words
from taylorank.selection import Comparison
from taylorank.selection.comparison import join_comparisons
from taylorank.selection.significance import METHOD

NAMES = ("ease", "popularity", "itemknn")


@pytest.fixture(scope="module")
def parts():
    data = tr.planted(100, 40, interactions=1500)
    return [tr.compare(data, [name], seeds=(0,), trials=0) for name in NAMES]


@pytest.fixture(scope="module")
def whole():
    return tr.compare(tr.planted(100, 40, interactions=1500), NAMES, seeds=(0,), trials=0)


def saved(comparison, path, *, per_user):
    comparison.save(path, per_user=per_user)
    return Comparison.load(path)


def test_joined_is_what_one_comparison_says(parts, whole, tmp_path):
    loaded = [saved(part, tmp_path / f"{i}.json", per_user=True) for i, part in enumerate(parts)]
    for comparisons in (parts, loaded):
        joined = join_comparisons(comparisons)
        assert list(joined.record["models"]) == list(NAMES)
        for name, found in whole.models.items():
            assert joined.models[name]["metrics"] == found["metrics"]
            assert joined.models[name]["versus_best"] == found["versus_best"]
    assert len(parts[0].record["models"]) == 1  # the parts are left alone


def test_without_the_users_values_pairs_of_two_comparisons_are_not_tested(parts, whole, tmp_path):
    loaded = [saved(part, tmp_path / f"{i}.json", per_user=i == 0) for i, part in enumerate(parts)]
    joined = join_comparisons(loaded)
    assert joined.best == whole.best == "ease"
    for name, found in whole.models.items():
        assert joined.models[name]["metrics"] == found["metrics"]  # those of the parts
    for name in ("popularity", "itemknn"):
        test = joined.models[name]["versus_best"]["ndcg@10"]
        means = [joined.models[one]["metrics"]["ndcg@10"]["mean"] for one in (name, "ease")]
        assert test == {"difference": means[0] - means[1], "low": None, "high": None, "p": None, "p_adjusted": None}
    rows = [[cell.text for cell in row] for row in significance_table(joined.record).rows]
    assert rows
    assert all(row[-3:] == ["–", "not tested", "–"] for row in rows)
    assert "no test of significance was made" in lead_sentence(joined.record)
    (sentence,) = [line for line in further_sentences(joined.record) if line.startswith("Not tested")]
    assert "ItemKNN and Popularity" in sentence
    assert "--per-user" in sentence


def test_tests_that_a_part_has_made_stay(whole, tmp_path):
    """Two models of one file keep their test, whose correction counts what is tested; the third is not tested."""
    data = tr.planted(100, 40, interactions=1500)
    pair = tr.compare(data, ["ease", "popularity"], seeds=(0,), trials=0)
    third = tr.compare(data, ["itemknn"], seeds=(0,), trials=0)
    joined = join_comparisons([saved(pair, tmp_path / "a.json", per_user=False), third])
    known, expected = joined.models["popularity"]["versus_best"], pair.models["popularity"]["versus_best"]
    assert known == expected
    assert known["ndcg@10"]["p_adjusted"] == known["ndcg@10"]["p"]
    assert joined.models["itemknn"]["versus_best"]["ndcg@10"]["p"] is None
    lead = lead_sentence(joined.record)
    assert "than Popularity; no test of significance was made against ItemKNN" in lead or "above Popularity" in lead
    assert whole.models["popularity"]["versus_best"]["ndcg@10"]["p_adjusted"] >= known["ndcg@10"]["p_adjusted"]


def test_tests_of_before_keep_their_p_and_their_caption(whole, tmp_path):
    """Without the users' values Holm's p stays and is named; with them the models are tested anew."""
    old = copy.deepcopy(whole)
    del old.record["summary"]["test"]
    for found in old.models.values():
        for test in found["versus_best"].values():
            test["p_holm"] = test.pop("p_adjusted") / 2
    kept = join_comparisons([saved(old, tmp_path / "a.json", per_user=False)])
    assert kept.record["summary"] == old.record["summary"]
    assert "Holm" in mark_words(kept.record)
    anew = join_comparisons([saved(old, tmp_path / "b.json", per_user=True)])
    assert anew.record["summary"] == whole.record["summary"]
    assert anew.record["summary"]["test"] == METHOD
    assert "Holm" not in mark_words(anew.record)


def test_saved_and_loaded(whole, tmp_path):
    found = saved(whole, tmp_path / "c.json", per_user=True)
    assert found == whole
    assert found.per_user.keys() == whole.per_user.keys()
    assert not saved(whole, tmp_path / "d.json", per_user=False).per_user


def test_others_are_refused(parts):
    other = copy.deepcopy(parts[1].record)
    other["budget"]["trials"] = 9
    with pytest.raises(DataError, match="differ in budget"):
        join_comparisons([parts[0], Comparison(other)])
    with pytest.raises(DataError, match="two of the comparisons have ease"):
        join_comparisons([parts[0], parts[0]])
    with pytest.raises(DataError, match="no comparison to join"):
        join_comparisons([])


def test_other_metrics_and_names_are_joined_on_what_they_share(parts):
    data = tr.planted(100, 40, interactions=1500)
    other = tr.compare(
        data, ["itemknn"], seeds=(0,), trials=0, metrics=["ndcg@10", "map@10", "recall@5"], name="elsewhere"
    )
    with pytest.raises(DataError, match="differ in data, settings"):
        join_comparisons([parts[0], other])
    shared, like = ["ndcg@10", "map@10"], parts[0].record
    joined = join_comparisons([one.narrowed(shared, like=like) for one in (parts[0], other)])
    assert set(joined.record["settings"]["metrics"]) == set(shared)
    assert joined.models["itemknn"]["metrics"]["map@10"] == parts[2].models["itemknn"]["metrics"]["map@10"]
    assert set(joined.record["runs"][1]["metrics"]) == set(shared)
    assert "recall@5" in other.record["settings"]["metrics"]  # the parts are left alone
    with pytest.raises(DataError, match="lacks recall@5"):
        parts[0].narrowed(["recall@5"], like=like)
    with pytest.raises(DataError, match="ndcg@10, which chose"):
        parts[0].narrowed(["map@10"], like=like)


def test_other_data_is_not_joined(parts):
    other = tr.compare(
        tr.planted(100, 40, interactions=1500, random_state=5), ["itemknn"], seeds=(0,), trials=0, name="b"
    )
    with pytest.raises(DataError, match="of other data"):
        other.narrowed(["ndcg@10"], like=parts[0].record)
