"""The benchmark of `fit_best`: it runs, goes on from its file, and counts what is lost."""

from __future__ import annotations

import json

import pytest

import taylorank as tr
from research.bench.quality import fit_best
from taylorank.errors import DataError, ParameterError


@pytest.fixture(scope="module")
def record(tmp_path_factory):
    file = tmp_path_factory.mktemp("fit_best") / "record.json"
    return fit_best.run(quick=True, file=file, command="made by a test", log_line=lambda _: None), file


def test_every_rival_is_measured_on_the_same_test_part(record):
    row = record[0]["sets"]["planted"]
    assert set(row["rivals"]) == {"RG2", "EASE", "IALS", "Distilled"}
    train, test = fit_best.parts_of("planted")
    best = max(one["test"] for one in row["rivals"].values())
    assert row["loss"] == pytest.approx(1 - row["fit_best"]["test"] / best, abs=1e-4)
    held = row["rivals"]["EASE"]["params"]
    assert held.keys() == {"regularization", "neighbours"}
    again = tr.evaluate(tr.EASE(**held).fit(train), test, metrics="ndcg@10")["ndcg@10"]
    assert row["rivals"]["EASE"]["test"] == pytest.approx(again, abs=1e-4)
    assert row["held back"].startswith("held back: the last 10 %")


def test_it_goes_on_from_its_file(record, monkeypatch):
    def never(*_, **__):
        raise AssertionError

    monkeypatch.setattr(fit_best, "measure", never)
    again = fit_best.run(quick=True, file=record[1], log_line=lambda _: None)
    assert json.loads(json.dumps(again["sets"])) == json.loads(record[1].read_text())["sets"]
    assert json.loads(record[1].read_text())["command"] == "made by a test"
    with pytest.raises(DataError, match=r"seconds 0\.5, this run 7"):
        fit_best.run(sets="ml-100k", seconds=7.0, file=record[1])


def test_two_sides_measured_apart_are_joined(tmp_path, record):
    for side in ("fit_best", "rivals"):
        alone = fit_best.run(quick=True, only=side, file=tmp_path / f"{side}.json", log_line=lambda _: None)
        assert alone["sets"]["planted"]["loss"] is None
        assert ("rivals" in alone["sets"]["planted"]) == (side == "rivals")
        assert len(fit_best.describe(alone)) == 3
    joined = fit_best.run(quick=True, join=str(tmp_path), file=tmp_path / "both.json")["sets"]["planted"]
    best = max(one["test"] for one in joined["rivals"].values())
    assert joined["loss"] == pytest.approx(1 - joined["fit_best"]["test"] / best, abs=1e-4)
    assert "cores of" in joined["machine of fit_best"]
    assert "cores of" in joined["machine of rivals"]
    assert json.loads((tmp_path / "both.json").read_text())["sets"]["planted"] == json.loads(json.dumps(joined))


def test_rivals_of_another_record_are_taken_as_they_are(tmp_path, record):
    how = {"only": "fit_best", "quick": True, "rivals_of": str(record[1]), "log_line": lambda _: None}
    taken = fit_best.run(**how, file=tmp_path / "taken.json")
    row, other = taken["sets"]["planted"], json.loads(record[1].read_text())
    assert row["rivals"] == other["sets"]["planted"]["rivals"]
    assert row["loss"] == fit_best.with_loss(row)["loss"]
    assert row["loss"] is not None
    assert taken["rivals"]["seconds"] == other["times"] * other["seconds"]
    assert "1 s for each rival measured before, of the wall clock" in fit_best.describe(taken)[0]
    assert fit_best.run(**how, file=tmp_path / "taken.json")["sets"] == json.loads(json.dumps(taken["sets"]))


def test_losses_are_counted(record):
    lines = fit_best.describe(record[0])
    assert lines[1].startswith("planted: ")
    made_up = {"fit_best": {"chosen": "RG2", "test": 0.1, "seconds": 5}, "rivals": {"EASE": {"test": None}}}
    sets = {name: {**made_up, "loss": loss} for name, loss in (("a", -0.01), ("b", 0.02), ("c", 0.03), ("d", None))}
    lines = fit_best.describe({**record[0], "sets": sets})
    assert lines[-1] == "within 2 % of the best rival, or better, on 2 of 3 sets"
    assert lines[2] == "b: RG2 0.1000 in 5 s; EASE –; loses 2.0 % to the best of them"


def test_a_wrong_name_is_refused_and_a_set_that_is_not_here_left_out(monkeypatch):
    with pytest.raises(ParameterError, match="no data set 'ml-9m'"):
        fit_best.run(sets="ml-9m")
    monkeypatch.setattr(fit_best, "parts_of", lambda *of: (_ for _ in ()).throw(DataError("it is not here")))
    said = []
    assert fit_best.run(sets="ml-1m", log_line=said.append)["sets"] == {}
    assert said == ["ml-1m: left out, it is not here"]
