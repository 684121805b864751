"""Comparisons on small planted data: all protocols, resuming, failures, equal budgets."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

import taylorank as tr
from taylorank.errors import DataError, ParameterError
from taylorank.models import EASE, Popularity
from taylorank.models.recommender import Recommender
from taylorank.ranking import Ranker, evaluate
from taylorank.ranking.protocols import PROTOCOLS, protocol
from taylorank.report.record import load_record
from taylorank.report.words import further_sentences
from taylorank.selection import Choice, Comparison, compare
from taylorank.selection.peers import PEERS

SMALL = {"ease": {"regularization": Choice((1.0, 30.0, 1000.0))}, "rg2": {"factors": Choice((2, 4, 8))}}
TIMES = {"seconds", "fit_seconds", "evaluate_seconds", "tuning_seconds", "peak_memory_bytes", "written", "parts"}


@pytest.fixture(scope="module")
def data():
    return tr.planted(150, 50, interactions=2500, random_state=0)


class Broken(Recommender):
    """A model whose fit fails."""

    def fit(self, train, valid=None, callback=None):
        raise ZeroDivisionError("cannot divide\nby zero")


class Constant:
    """The least that can be compared: fit, and a ranker."""

    def fit(self, train):
        self.ranker = Ranker(train.users, train.items, train, scores=self.scores)
        return self

    def scores(self, users):
        return np.tile(np.arange(len(self.ranker.items), dtype=np.float32), (len(users), 1))


def without_times(value):
    """Everything that must not depend on the clock."""
    if isinstance(value, dict):
        kept = {k: without_times(v) for k, v in value.items() if k not in TIMES and k != "machine"}
        if "step" in kept and "value" in kept:
            return (kept["step"], kept["value"])
        return kept
    return [without_times(part) for part in value] if isinstance(value, list) else value


@pytest.mark.parametrize("name", PROTOCOLS)
def test_every_protocol_gives_what_a_loop_by_hand_gives(data, name):
    given = data.split((0.8, 0.2), random_state=9) if name == "published" else data
    found = compare(given, ["ease", "rg2"], protocol=name, seeds=(0, 1), trials=3, spaces=SMALL)
    way = protocol(name)
    assert found.record["settings"]["primary"] == way.chooses
    assert set(found.models) == {"ease", "rg2"}
    for seed in (0, 1):
        parts = way.prepare(given, seed)
        candidates = {r: EASE(r).fit(parts.train) for r in SMALL["ease"]["regularization"].values}
        value = {r: parts.evaluate(m, "valid", metrics=way.chooses)[way.chooses] for r, m in candidates.items()}
        best = max(value, key=value.get)
        run = next(r for r in found.record["runs"] if (r["model"], r["seed"]) == ("ease", seed))
        assert run["params"] == {"regularization": best}
        expected = parts.evaluate(EASE(best).fit(parts.full_train), "test", metrics=way.metrics)
        assert run["metrics"] == pytest.approx(dict(expected))
        assert dict(run["by_cutoff"])[10] == pytest.approx(
            parts.evaluate(EASE(best).fit(parts.full_train), "test", metrics="ndcg@10")["ndcg@10"]
        )
    means = [r["metrics"][way.chooses] for r in found.record["runs"] if r["model"] == "ease"]
    assert found.models["ease"]["metrics"][way.chooses]["mean"] == pytest.approx(np.mean(means))


def test_every_model_has_the_same_budget_and_the_record_says_so(data):
    found = compare(data, ["ease", "itemknn", "popularity"], seeds=(0,), trials=4)
    assert found.record["budget"] == {"trials": 4, "seconds": None}
    tuned = {run["model"]: run["tuning"] for run in found.record["runs"]}
    assert tuned["popularity"] is None
    for name in ("ease", "itemknn"):
        assert tuned[name]["budget"] == {"trials": 4, "seconds": None}
        assert len({trial["fit"] for trial in tuned[name]["trials"]}) == 4


def test_the_record_has_everything_a_report_needs(data):
    found = compare(data, ["ials", "popularity"], seeds=(0, 1), trials=2, metrics=("ndcg", "coverage"), k=(5, 10))
    record = found.record
    assert record["settings"]["metrics"] == ["ndcg@10", "ndcg@5", "coverage@5", "coverage@10"]
    first, second = (next(r for r in record["runs"] if (r["model"], r["seed"]) == ("ials", s)) for s in (0, 1))
    assert [point["step"] for point in first["convergence"]] == sorted(point["step"] for point in first["convergence"])
    assert len(first["convergence"]) > 3
    assert first["convergence"][-1]["step"] == 16
    assert "convergence" not in second
    assert len(first["by_popularity"]) == 5
    assert sum(part["interactions"] for part in first["by_popularity"]) == protocol("papers").prepare(data, 0).test.nnz
    assert record["data"]["interactions"] == data.nnz
    assert record["machine"]["libraries"]["numpy"]
    ials, popularity = found.models["ials"], found.models["popularity"]
    value = ials["metrics"]["ndcg@10"]
    assert value["low"] < value["mean"] < value["high"]
    assert ials["metrics"]["coverage@10"]["low"] is None  # of all lists together, so without users to draw
    worse = ials if found.best == "popularity" else popularity
    versus = worse["versus_best"]["ndcg@10"]
    means = sorted(m["metrics"]["ndcg@10"]["mean"] for m in (ials, popularity))
    assert versus["difference"] == pytest.approx(means[0] - means[1], abs=1e-6)
    assert 0 < versus["p"] <= versus["p_adjusted"] <= 1
    json.dumps(record, allow_nan=False)


def test_users_are_paired_across_seeds(data):
    """The interval over users is that of each user's mean over seeds, computed here without the record's packing."""
    found = compare(data, ["popularity"], seeds=(0, 1, 2), trials=0)
    sums, counts = np.zeros(150), np.zeros(150)
    for seed in (0, 1, 2):
        parts = protocol("papers").prepare(data, seed)
        one = evaluate(Popularity().fit(parts.train), parts.test, seen=parts.seen_test, per_user=True)
        place = data.users.positions(one.user_ids)
        sums[place] += one.per_user["ndcg@10"]
        counts[place] += 1
    of_users = (sums / np.maximum(counts, 1))[counts > 0]
    value = found.models["popularity"]["metrics"]["ndcg@10"]
    assert found.record["summary"]["users"] == len(of_users)
    half = 1.976 * of_users.std(ddof=1) / np.sqrt(len(of_users))
    assert (value["high"] - value["low"]) / 2 == pytest.approx(half, rel=1e-3)


def test_a_model_that_fails_is_reported_and_the_others_go_on(data):
    progress = []
    found = compare(data, {"broken": Broken(), "fine": "popularity"}, seeds=(0, 1), trials=0, callback=progress.append)
    assert found.best == "fine"
    assert found.models["broken"] == {"error": "2 of 2 seeds failed: ZeroDivisionError: cannot divide by zero"}
    mean = found.models["fine"]["metrics"]["ndcg@10"]["mean"]
    assert mean > 0
    assert repr(found) == f"Comparison(ndcg@10: fine {mean:.4f}, broken failed)"
    assert [(p.stage, p.done, p.total) for p in progress if p.stage in ("done", "failed")] == [
        ("failed", 0, 4),
        ("done", 1, 4),
        ("failed", 2, 4),
        ("done", 3, 4),
    ]


def test_all_failing_is_a_result_too(data):
    found = compare(data, {"broken": Broken()}, seeds=(0,), trials=0)
    assert found.best is None
    assert "ZeroDivisionError" in found.models["broken"]["error"]


def test_any_estimator_with_fit_and_scores_takes_part(data):
    found = compare(data, {"last items": Constant(), "popularity": Popularity()}, seeds=(0,), trials=5)
    parts = protocol("papers").prepare(data, 0)
    expected = evaluate(Constant().fit(parts.train), parts.test, seen=parts.seen_test)["ndcg@10"]
    assert found.models["last items"]["metrics"]["ndcg@10"]["mean"] == pytest.approx(expected)


@pytest.mark.parametrize("stage", ["tuning, 2 tried", "testing"])
def test_an_interrupted_comparison_goes_on_and_ends_the_same(data, tmp_path, stage):
    how = {"seeds": (0, 1), "trials": 3, "spaces": SMALL}
    whole = compare(data, ["ease", "rg2"], file=tmp_path / "whole.json", **how)
    path = tmp_path / "cut.json"

    def interrupt(progress):
        if (progress.model, progress.seed, progress.stage) == ("EASE", 1, stage):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        compare(data, ["ease", "rg2"], file=path, callback=interrupt, **how)
    assert len(load_record(path)["runs"]) == 2
    fits = []
    again = compare(data, ["ease", "rg2"], file=path, callback=fits.append, **how)
    assert {(p.model, p.seed) for p in fits} == {("EASE", 1), ("RG2", 1)}
    assert without_times(again.record) == without_times(whole.record)
    assert without_times(load_record(path)) == without_times(whole.record)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["cut.json", "whole.json"]
    assert again.models["ease"]["versus_best"] or again.models["rg2"]["versus_best"]  # tested on all seeds
    assert compare(data, ["ease", "rg2"], file=path, callback=pytest.fail, **how).record == load_record(path)


def test_what_a_kill_left_beside_a_finished_run_is_removed(data, tmp_path):
    file = tmp_path / "c.json"
    how = {"seeds": (0,), "trials": 2, "file": file}
    compare(data, ["ease"], **how)
    (tmp_path / "c.json.ease.0.tuning").write_bytes(b"")  # killed between the record and the removal
    compare(data, ["ease"], **how)
    assert [one.name for one in tmp_path.iterdir()] == ["c.json"]


def test_a_file_can_be_extended_but_not_turned_into_another_comparison(data, tmp_path):
    path = tmp_path / "c.json"
    compare(data, ["popularity"], seeds=(0,), trials=0, file=path)
    more = compare(data, ["popularity", "ease"], seeds=(0, 1), trials=0, file=path)
    assert len(more.record["runs"]) == 4
    before = path.read_bytes()
    other = tr.planted(150, 50, interactions=2500, random_state=1)
    for arguments, words in [
        ((other, ["popularity", "ease"]), "fingerprint"),
        ((data, ["popularity"]), "model ease"),
        ((data, ["popularity", EASE(3.0)]), "model ease"),
    ]:
        with pytest.raises(ParameterError, match=f"another comparison.*{words}"):
            compare(*arguments, seeds=(0, 1), trials=0, file=path)
    with pytest.raises(ParameterError, match="budget"):
        compare(data, ["popularity", "ease"], seeds=(0, 1), trials=1, file=path)
    assert path.read_bytes() == before


@pytest.mark.parametrize("kept", [True, False])
def test_models_added_later_are_tested_if_the_users_values_were_kept(data, tmp_path, kept):
    whole = compare(data, ["popularity", "itemknn", "ease"], seeds=(0, 1), trials=0)
    path, how = tmp_path / "c.json", {"seeds": (0, 1), "trials": 0}
    before = compare(data, ["popularity", "itemknn"], file=path, per_user=kept, **how)
    assert (tmp_path / "c.users.npz").exists() == kept
    more = compare(data, ["popularity", "itemknn", "ease"], file=path, **how)
    assert whole.best == more.best == "ease"
    for name in ("popularity", "itemknn", "ease"):  # means and intervals are there in any case
        assert more.models[name]["metrics"] == whole.models[name]["metrics"]
    assert more.record["summary"]["users"] == whole.record["summary"]["users"]
    for name in ("popularity", "itemknn"):
        test, expected = (one.models[name]["versus_best"]["ndcg@10"] for one in (more, whole))
        assert test["difference"] == pytest.approx(expected["difference"], abs=1e-6)
        assert test == expected if kept else [test[key] for key in ("low", "high", "p", "p_adjusted")] == [None] * 4
    assert ("Not tested against the best" in " ".join(further_sentences(more.record))) != kept
    assert len(Comparison.load(path).per_user) == (6 if kept else 0)  # the file that is kept is brought up to date
    assert before.best == "itemknn"


def test_new_seeds_without_the_users_values_leave_no_interval(data, tmp_path):
    path = tmp_path / "c.json"
    compare(data, ["popularity", "ease"], seeds=(0,), trials=0, file=path)
    more = compare(data, ["popularity", "ease"], seeds=(0, 1), trials=0, file=path)
    whole = compare(data, ["popularity", "ease"], seeds=(0, 1), trials=0)
    for name in ("popularity", "ease"):
        value, expected = (one.models[name]["metrics"]["ndcg@10"] for one in (more, whole))
        assert (value["mean"], value["seed_sd"]) == (expected["mean"], expected["seed_sd"])
        assert value["low"] is None
    assert more.models["popularity"]["versus_best"] == {}


def test_an_extension_that_is_cut_off_loses_no_interval(data, tmp_path):
    path, names = tmp_path / "c.json", ["popularity", "itemknn", "ease"]
    before = compare(data, names[:2], seeds=(0,), trials=0, file=path)

    def interrupt(progress):
        if (progress.model, progress.stage) == ("EASE", "testing"):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        compare(data, [*names, "rgx"], seeds=(0,), trials=0, file=path, callback=interrupt)
    after = compare(data, [*names, "rgx"], seeds=(0,), trials=0, file=path)
    assert after.models["itemknn"]["metrics"] == before.models["itemknn"]["metrics"]
    assert after.models["ease"]["metrics"]["ndcg@10"]["low"] is not None


def test_the_record_names_the_commit(data, tmp_path, monkeypatch):
    path = tmp_path / "c.json"
    for commit in ("a" * 40, "a" * 40, "b" * 40):
        monkeypatch.setattr("taylorank.selection.comparison_record.source_commit", lambda commit=commit: commit)
        found = compare(data, ["popularity"], seeds=(0,), trials=0, file=path)
    assert found.record["commit"] == f"{'a' * 40}, {'b' * 40}"  # gone on from at another commit
    monkeypatch.setattr("taylorank.selection.comparison_record.source_commit", lambda: None)
    assert "commit" not in compare(data, ["popularity"], seeds=(0,), trials=0).record


def test_a_failed_run_is_tried_again(data, tmp_path, monkeypatch):
    path = tmp_path / "c.json"
    with monkeypatch.context() as patch:
        patch.setattr(EASE, "fit", Broken.fit)
        assert "error" in compare(data, ["ease"], seeds=(0,), trials=0, file=path).models["ease"]
    assert compare(data, ["ease"], seeds=(0,), trials=0, file=path).best == "ease"


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (
            {"schema": "taylorank comparison", "version": 99, "taylorank": "9.9"},
            "version 99.*redraw it with taylorank 9.9",
        ),
        ({"schema": "something else"}, "is no comparison"),
        ([1, 2], "is no comparison"),
        ({"schema": "taylorank comparison", "version": 1}, "lacks machine, data"),
        ({"schema": "taylorank comparison", "version": 2}, "lacks machine, data"),
    ],
)
def test_files_of_another_kind_or_version_are_refused(tmp_path, data, content, words):
    path = tmp_path / "c.json"
    path.write_text(json.dumps(content))
    with pytest.raises(DataError, match=words):
        Comparison.load(path)
    with pytest.raises(DataError, match=words):
        compare(data, ["popularity"], file=path)


def test_damaged_files_are_refused(tmp_path, data):
    path = tmp_path / "c.json"
    found = compare(data, ["popularity"], seeds=(0,), trials=0, file=path)
    assert Comparison.load(path).record == found.record
    path.write_text(path.read_text()[:-100])
    with pytest.raises(DataError, match="not JSON"):
        Comparison.load(path)
    with pytest.raises(DataError, match="cannot read"):
        Comparison.load(tmp_path / "nowhere.json")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"models": []}, "no list of models"),
        ({"models": "rg2"}, "is not a list or a mapping"),
        ({"models": ["rg3"]}, "no model is called 'rg3'"),
        ({"models": [3]}, "3 is no model"),
        ({"models": ["ease", EASE(5.0)]}, "two models are called 'ease'"),
        ({"seeds": ()}, "seeds"),
        ({"seeds": (1, 1)}, "seeds"),
        ({"trials": -1}, "trials"),
        ({"seconds": 0}, "seconds"),
        ({"metrics": "fame"}, "no metric is called 'fame'"),
        ({"protocol": "mine"}, "no protocol is called 'mine'"),
        ({"spaces": {"ials": {}}}, "spaces has 'ials'"),
        ({"models": [Constant()], "spaces": {"Constant": {"a": Choice((1, 2))}}}, "cannot be tuned"),
    ],
)
def test_bad_arguments_are_refused_before_any_work(data, change, words):
    how = {"models": ["popularity"], **change}
    with pytest.raises(ParameterError, match=words):
        compare(data, how.pop("models"), **how)


def test_peers_take_part_under_their_names(data):
    pytest.importorskip("implicit")
    pytest.importorskip("irspack")
    spaces = {name: {"factors": Choice((4, 8))} for name in ("implicit-als", "irspack-ials")}
    found = compare(data, ["popularity", *spaces], seeds=(0,), trials=2, spaces=spaces)
    parts = protocol("papers").prepare(data, 0)
    for name in spaces:
        run = next(r for r in found.record["runs"] if r["model"] == name)
        alone = PEERS[name](**run["params"], random_state=0).fit(parts.train)
        assert run["metrics"]["ndcg@10"] == pytest.approx(parts.evaluate(alone, "test")["ndcg@10"], rel=1e-3)
        assert [point["step"] for point in run["convergence"]][-1] == 16


def test_ranks_that_the_data_does_not_have_are_cut_with_a_word(tmp_path):
    data, file = replace(tr.planted(80, 25, interactions=900, random_state=1), timestamps=None), tmp_path / "c.json"
    models = {"mine": tr.RG2(500), "ials": tr.IALS(4)}
    found = compare(data, models, seeds=(0,), trials=0, file=file)
    word = "mine: ranks above 25, the smaller side of the data, were cut to it."
    assert found.record["notes"] == [word]
    assert not any(run["error"] for run in found.record["runs"])
    again = compare(data, models, seeds=(0, 1), trials=0, file=file)
    assert again.record["notes"] == [word]
    tuned = compare(data, models, seeds=(0,), trials=1, spaces={"mine": {"regularization": Choice((0.2,))}})
    assert tuned.record["notes"] == [word]
    assert not any(run["error"] for run in tuned.record["runs"])
    assert "notes" not in compare(data, {"small": tr.RG2(5)}, seeds=(0,), trials=0).record


def test_it_is_said_what_was_held_out_where_an_order_is_known():
    data, models = tr.planted(80, 25, interactions=900, random_state=1), {"one": tr.Popularity()}
    how = {"seeds": (0,), "trials": 0}
    (said,) = compare(data, models, **how).record["notes"]
    assert said.startswith("Held out: random interactions of each user")
    assert 'the protocol "latest" holds out what came last' in said
    train, test = data.split((0.8, 0.2), random_state=0)
    (said,) = compare((train, test), models, protocol="published", **how).record["notes"]
    assert said.startswith("Held out for validation: the last interactions")
    assert "notes" not in compare(data, models, protocol="latest", **how).record
