"""`taylorank compare` and `taylorank report` as a person meets them."""

from __future__ import annotations

import json
import sys

import pytest

import taylorank as tr
from taylorank.report.record import load_record
from taylorank.selection import Comparison
from tests.cli.command import run


@pytest.fixture
def data(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    tr.planted(120, 40, interactions=2000).save_npz("data.npz")
    return "data.npz"


SMALL = ("--trials", "2", "--seeds", "2", "--models", "ease,popularity")


def test_compare_prints_a_table_and_writes_json_and_report(data, tmp_path, capsys):
    pytest.importorskip("altair")
    assert run("compare", data, *SMALL, "--json", "c.json", "--report", "c.html") == 0
    shown = capsys.readouterr().out
    assert "is best on NDCG@10" in shown
    record = load_record("c.json")
    for name in ("ease", "popularity"):
        assert f"{record['summary']['models'][name]['metrics']['ndcg@10']['mean']:.4f}" in shown
    words = " ".join(SMALL)
    assert record["command"] == f"taylorank compare data.npz {words} --json c.json --report c.html"
    assert record["settings"]["seeds"] == [0, 1]
    assert "data.npz" in (tmp_path / "c.html").read_text()
    assert run("report", "c.json", "--out", "again.html", "--quiet") == 0
    assert (tmp_path / "again.html").read_text() == (tmp_path / "c.html").read_text()
    assert run("report", "c.json", "--quiet") == 0
    assert capsys.readouterr().out == ""


def test_each_users_values_are_kept_on_request(data, tmp_path, capsys):
    assert run("compare", data, *SMALL, "--json", "c.json", "--per-user") == 0
    assert "written: c.users.npz" in capsys.readouterr().out
    assert len(Comparison.load("c.json").per_user) == 4
    assert run("compare", data, *SMALL, "--json", "d.json", "--quiet") == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["c.json", "c.users.npz", "d.json", "data.npz"]


def test_quiet_prints_nothing_and_the_same_command_goes_on(data, capsys):
    words = ("compare", data, *SMALL, "--json", "c.json", "--quiet", "--seed", "5", "--metrics", "recall", "--k", "5")
    assert run(*words) == 0
    before = load_record("c.json")
    assert before["settings"]["seeds"] == [5, 6]
    assert before["settings"]["metrics"] == ["recall@5"]
    assert run(*words) == 0
    assert load_record("c.json") == before
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("compare", "data.npz", "--models", "rg3"), "no model is called 'rg3'"),
        (("compare", "data.npz", "--models", ","), "names nothing"),
        (("compare", "data.npz", "--protocol", "mine"), "no protocol is called 'mine'"),
        (("compare", "data.npz", "--protocol", "published"), "no data set"),
        (("compare", "data.npz", "--seeds", "0"), "--seeds 0"),
        (("compare", "data.npz", "--per-user"), "--per-user needs a file to write beside; give --json"),
        (("compare", "data.npz", "--k", "ten"), "--k 'ten'"),
        (("compare", "data.npz", "--metrics", "fame"), "no metric is called 'fame'"),
        (("compare", "data.npz", "--trials", "-2"), "trials=-2"),
        (
            (
                "compare",
                "nowhere.csv",
            ),
            "no such file",
        ),
        (("compare", "data.npz", "--json", "old.json"), "version 77"),
        (("report", "old.json"), "version 77"),
        (("report", "nothing.json"), "cannot read nothing.json"),
        (("report", "data.npz"), "is not JSON"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(data, tmp_path, arguments, words, capsys):
    (tmp_path / "old.json").write_text(json.dumps({"schema": "taylorank comparison", "version": 77}))
    assert run(*arguments) == 2
    complaint = capsys.readouterr().err
    assert words in complaint
    assert complaint.count("\n") == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data.npz", "old.json"]


def test_a_missing_extra_is_found_before_the_work(data, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "altair", None)
    assert run("compare", data, "--report", "c.html") == 2
    assert "altair, which is not installed; pip install 'taylorank[report]'" in capsys.readouterr().err
    assert run("run", "--users", "60", "--items", "30", "--interactions", "600", "--out", "o") == 0
    assert "no report: the report needs altair" in capsys.readouterr().out


@pytest.mark.parametrize("word", ["compare", "report"])
def test_help_has_an_example(word, capsys):
    assert run(word, "--help") == 0
    assert f"Example: taylorank {word}" in capsys.readouterr().out


def test_run_ends_with_a_report(tmp_path, capsys):
    pytest.importorskip("altair")
    out = tmp_path / "o"
    assert run("run", "--users", "60", "--items", "30", "--interactions", "600", "--out", str(out)) == 0
    assert f"written: {out / 'report.html'}" in capsys.readouterr().out
    page = (out / "report.html").read_text()
    results = json.loads((out / "results.json").read_text())["results"]
    assert "Planted: the data are simulated." in page
    assert "as a factor model it has the same solution as RG2." in page
    assert "by validation data of seeds 10 to 14 from ranges set by hand." in page
    for result in results:
        assert result["model"] in page
        assert f"{result['metrics']['ndcg@10']:.4f}" in page
