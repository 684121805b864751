"""`taylorank recommend`: strangers, files of items, lists of everybody."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest

import taylorank as tr
from taylorank.ranking import recommendations
from tests.cli.command import run


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    data = tr.planted(60, 30, interactions=500, random_state=1)
    tr.RG2(factors=3).fit(data).save("m.tr")
    return tmp_path


def lists(capsys, *words):
    assert run("recommend", "m.tr", *words, "--json", "-") == 0
    return json.loads(capsys.readouterr().out)


def test_strangers_get_what_cold_says(place, capsys):
    model = tr.load("m.tr")
    popular = model.recommend([777], 4, cold="popularity")
    got = lists(capsys, "--for-user", "777", "--for-user", "bob", "--for-user", "3", "-n", "4", "--cold", "popularity")
    assert got[0]["items"] == got[1]["items"] == popular[0][0].tolist()
    assert got[2]["items"] == model.recommend([3], 4)[0][0].tolist()
    got = lists(capsys, "--for-user", "777", "--cold", "nan")
    assert got == [{"user": 777, "items": [], "scores": []}]
    for words in ((), ("--cold", "error")):
        assert run("recommend", "m.tr", "--for-user", "777", *words) == 2
        complaint = capsys.readouterr().err
        assert "unknown user 777" in complaint
        assert "--cold popularity" in complaint


def test_files_of_items_allow_and_forbid(place, capsys):
    (place / "some.txt").write_text("3\n\n 5 \n8\n11\n")
    (place / "gone.txt").write_text("5\n12345\nno number\n")
    model = tr.load("m.tr")
    expected = model.recommend([4], 9, items=[3, 5, 8, 11], exclude=[5])[0][0]
    got = lists(capsys, "--for-user", "4", "-n", "9", "--items", "some.txt", "--exclude", "gone.txt")
    assert got[0]["items"] == [i for i in expected.tolist() if i >= 0]
    (place / "empty.txt").write_text("\n")
    (place / "latin.txt").write_bytes(b"\xe9\n")
    for words, complaint in (
        (("--items", "gone.txt"), "unknown item 12345"),
        (("--items", "empty.txt"), "holds no ids"),
        (("--exclude", "latin.txt"), "UTF-8"),
        (("--exclude", "nowhere.txt"), "no such file: nowhere.txt"),
    ):
        assert run("recommend", "m.tr", "--for-user", "4", *words) == 2
        said = capsys.readouterr().err
        assert complaint in said
        assert said.count("\n") == 1


@pytest.mark.parametrize("ending", ["parquet", "csv"])
def test_everybody_in_blocks_is_everybody_at_once(place, ending, monkeypatch, capsys):
    """Blocks of 7 users, so that there are many; the rows are those of one call."""
    real = recommendations.best_items
    monkeypatch.setattr(recommendations, "best_items", lambda *a, **k: (real(*a, **k)[0], 7))
    assert run("recommend", "m.tr", "--all", "-n", "28", "--out", f"recs.{ending}") == 0
    assert "60 users" in capsys.readouterr().out
    table = getattr(pl, f"read_{ending}")(place / f"recs.{ending}")
    monkeypatch.undo()
    model = tr.load(place / "m.tr")
    ids, scores = model.recommend(model.users.values, 28)
    found = ~np.isnan(scores)
    assert not found.all()  # some lists are short
    assert table["item"].to_list() == ids[found].tolist()
    np.testing.assert_allclose(table["score"].to_numpy(), scores[found], rtol=1e-6)
    assert table["user"].to_list() == np.repeat(model.users.values, found.sum(axis=1)).tolist()
    ranks = table.group_by("user", maintain_order=True).agg(pl.col("rank"))["rank"].to_list()
    assert all(row == list(range(1, len(row) + 1)) for row in ranks)


@pytest.mark.parametrize("model", [tr.Popularity(), tr.EASE(20.0), tr.ItemKNN(9), tr.IALS(3)])
def test_lists_of_other_models(model, place):
    texts = tr.Interactions.from_arrays(["ä", "b", "c", "b"], ["x", "x", "y", "z"])
    if hasattr(model, "factors"):
        model.set_params(factors=1)
    model.fit(texts).save("t.tr")
    assert run("recommend", "t.tr", "--all", "-n", "2", "--out", "t.parquet", "--quiet") == 0
    table = pl.read_parquet("t.parquet")
    assert table.schema == {"user": pl.String, "rank": pl.Int32, "item": pl.String, "score": pl.Float32}
    ids, scores = model.recommend(model.users.values, 2)
    assert table["item"].to_list() == ids[~np.isnan(scores)].tolist()


def test_a_failed_write_leaves_the_old_file(place, monkeypatch, capsys):
    (place / "recs.csv").write_text("old")
    monkeypatch.setattr("taylorank.cli.lists.list_columns", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    assert run("recommend", "m.tr", "--all", "--out", "recs.csv") == 130
    assert capsys.readouterr().err == "taylorank: interrupted; nothing is left half-written\n"
    assert (place / "recs.csv").read_text() == "old"
    assert sorted(p.name for p in place.iterdir()) == ["m.tr", "recs.csv"]
    assert run("recommend", "m.tr", "--all", "--out", "recs.json") == 2
    assert "ends in .parquet or .csv" in capsys.readouterr().err
