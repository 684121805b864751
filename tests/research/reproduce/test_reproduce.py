"""The tables on small files in the originals' formats: the papers' protocol, columns and numbers."""

from __future__ import annotations

import gzip
import importlib.util
import zipfile
from pathlib import Path

import pytest
from lookalikes import FILES, USERS, pairs

import taylorank as tr
from research.reproduce import TABLES, left_out, table_named
from research.reproduce.printed import TABLE_3
from research.reproduce.run import chosen_models, data_of, joined, models_of, needs_torch, reproduce
from taylorank.errors import DataError
from taylorank.report.record import load_record, save_record
from taylorank.selection import Comparison
from taylorank.selection.contenders import contenders

QUICK = ("--models", "rg2-paper,popularity,ials", "--trials", "1", "--seeds", "1")


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def short(text: str) -> str:
    return " ".join(text.split())


@pytest.mark.parametrize("name", FILES)
def test_a_user_with_the_files_gets_the_table(run, name, tmp_path, capsys):
    path = FILES[name](tmp_path)
    assert run("reproduce", name, "--path", str(path), *QUICK, "--json", "r.json") == 0
    shown = capsys.readouterr().out
    table, record = TABLES[name], load_record("r.json")
    assert record["protocol"]["name"] == "papers"
    assert record["settings"]["primary"] == ("map@10" if name == "simplewiki" else "ndcg@10")
    assert set(table.columns) <= set(record["settings"]["metrics"])
    core = 20 if name == "simplewiki" else 5
    steps = " ".join(step["action"] for step in record["data"]["steps"])
    assert f"core({core})" in steps
    assert ("rated below 3 removed" in steps) == (name in ("ml-10m", "electronics"))
    for label in {"simplewiki": ("MAP@10", "MRR@10")}.get(name, ("MRR@10", "NDCG@10")):
        assert label in shown
    printed = table.row("rg2-paper").printed
    assert printed is not None
    assert all(f"{value:.4f}" in shown for value in printed)
    for metric in table.columns:
        found = record["summary"]["models"]["rg2-paper"]["metrics"][metric]["mean"]
        assert f"{found:.4f}" in shown
    assert "(Pu et al. 2025, Table 5)" in short(shown) or name == "electronics"
    assert "written: r.json" in shown


def test_gradients_take_part_on_equal_budgets(run, tmp_path):
    pytest.importorskip("torch")
    path = FILES["electronics"](tmp_path)
    chosen = ("--models", "softmax,uib/lightgcn,wrmf-paper", "--trials", "1", "--seeds", "1", "--epochs", "2")
    assert run("reproduce", "electronics", "--path", str(path), *chosen, "--json", "r.json", "--quiet") == 0
    record = load_record("r.json")
    assert [run["error"] for run in record["runs"]] == [None] * 3
    assert record["models"]["softmax"]["params"]["factors"] == 64
    assert {run["tuning"]["budget"]["trials"] for run in record["runs"]} == {1}


def test_unpacked_files_do_as_well(tmp_path):
    packed = {name: FILES[name](tmp_path) for name in ("ml-10m", "steam", "simplewiki")}
    plain = tmp_path / "plain"
    plain.mkdir()
    with zipfile.ZipFile(packed["ml-10m"]) as archive:
        (plain / "ratings.dat").write_bytes(archive.read("ml-10M100K/ratings.dat"))
    for file in tmp_path.glob("*.gz"):
        (plain / file.name.removesuffix(".gz")).write_bytes(gzip.decompress(file.read_bytes()))
    for name, path in {
        "ml-10m": plain / "ratings.dat",
        "steam": plain / "steam_reviews.json",
        "simplewiki": plain,
    }.items():
        table = TABLES[name]
        one, other = data_of(table, path=packed[name]), data_of(table, path=path)
        assert one.nnz == other.nnz
        assert one.user_ids.tolist() == other.user_ids.tolist()


def test_published_splits_are_taken_as_they_are(run, tmp_path):
    lines = {part: [] for part in ("train", "test")}
    for user in range(USERS):
        met = [item for one, item in pairs() if one == user]
        lines["train"].append(" ".join(map(str, [user, *met[:20]])))
        lines["test"].append(" ".join(map(str, [user, *met[20:]])))
    for part, text in lines.items():
        (tmp_path / f"{part}.txt").write_text("\n".join(text) + "\n")
    words = ("--models", "rg2-paper,popularity", "--trials", "1", "--seeds", "1", "--json", "r.json", "--quiet")
    assert run("reproduce", "gowalla", "--path", str(tmp_path), *words) == 0
    record = load_record("r.json")
    assert record["protocol"]["name"] == "published"
    assert record["settings"]["primary"] == "ndcg@20"
    assert record["data"]["interactions"] == 20 * USERS


def test_an_interrupted_run_goes_on(run, tmp_path, monkeypatch):
    path = str(FILES["ml-10m"](tmp_path))
    words = ("reproduce", "ml-10m", "--path", path, *QUICK, "--json", "r.json", "--quiet")
    fit, calls = tr.IALS.fit, []

    def stopped(self, *arguments, **options):
        calls.append(1)
        raise KeyboardInterrupt

    monkeypatch.setattr(tr.IALS, "fit", stopped)
    assert run(*words) == 130
    before = load_record("r.json")
    assert [one["model"] for one in before["runs"]] == ["rg2-paper", "popularity"]
    monkeypatch.setattr(tr.IALS, "fit", fit)
    monkeypatch.setattr(tr.Popularity, "fit", stopped)  # what is done is not done again
    assert run(*words) == 0
    after = load_record("r.json")
    assert [one["model"] for one in after["runs"]] == ["rg2-paper", "popularity", "ials"]
    assert after["runs"][:2] == before["runs"]
    assert len(calls) == 1


def test_records_made_elsewhere_are_joined_and_not_run_again(run, tmp_path, capsys):
    path = str(FILES["ml-10m"](tmp_path))
    words = ("reproduce", "ml-10m", "--path", path, "--trials", "1", "--seeds", "1")
    assert run(*words, "--models", "rg2-paper,popularity", "--json", "a.json", "--quiet") == 0
    other = load_record("a.json")
    other["machine"]["cpu"] = "another"  # as the same data, read and timed elsewhere, under another name
    other["data"]["name"] = "ratings"
    save_record(other, "b.json")
    assert run(*words, "--models", "ials", "--with", "b.json", "--joint", "c.json", "--json", "d.json") == 0
    assert list(load_record("d.json")["models"]) == ["ials"]
    both = load_record("c.json")
    assert list(both["models"]) == ["ials", "rg2-paper", "popularity"]
    kept = other["summary"]["models"]["rg2-paper"]["metrics"]
    assert both["summary"]["models"]["rg2-paper"]["metrics"] == kept
    assert f"{kept['ndcg@10']['mean']:.4f}" in capsys.readouterr().out
    assert any(one["versus_best"].get("ndcg@10", {"p": 0})["p"] is None for one in both["summary"]["models"].values())
    names = chosen_models(TABLES["ml-10m"], None, [other])
    assert "rg2-paper" not in names
    assert "wrmf-paper" in names


def test_records_with_each_users_values_are_tested_against_each_other(tmp_path, run):
    path = str(FILES["ml-10m"](tmp_path))
    words = ("--path", path, "--trials", "1", "--seeds", "1", "--per-user", "--quiet")
    assert run("reproduce", "ml-10m", *words, "--models", "rg2-paper,popularity", "--json", "a.json") == 0
    assert run("reproduce", "ml-10m", *words, "--models", "ials", "--with", "a.json", "--joint", "c.json") == 0
    both = Comparison.load("c.json")
    assert len(both.per_user) == 3
    tests = [found["versus_best"]["ndcg@10"] for name, found in both.models.items() if name != both.best]
    assert len(tests) == 2
    assert all(test["p"] > 0 for test in tests)


def test_records_of_other_data_are_refused(run, tmp_path, capsys):
    small = tr.planted(100, 70, interactions=2500)
    tr.compare(small, ["popularity"], seeds=(0,), trials=1, file="b.json")
    path = str(FILES["ml-10m"](tmp_path))
    words = ("--models", "ials", "--trials", "1", "--seeds", "1", "--with", "b.json")
    assert run("reproduce", "ml-10m", "--path", path, *words) == 2
    assert "of other data" in capsys.readouterr().err


def test_the_same_data_from_npz_have_the_same_fingerprint(tmp_path):
    """What the machine with the GPU reads is what was cleaned here, so that its records join."""
    data = data_of(TABLES["ml-10m"], path=FILES["ml-10m"](tmp_path))
    data.save_npz("data.npz")
    table = TABLES["ml-10m"]
    there = reproduce(table, tr.Interactions.load_npz("data.npz"), ["popularity"], trials=0, seeds=(0,))
    ours = reproduce(table, data, ["ease"], trials=0, seeds=(0,))
    assert list(joined(table, [ours, there]).models) == ["ease", "popularity"]


def test_without_torch_the_closed_forms_run_and_the_rest_is_named(run, tmp_path, monkeypatch, capsys):
    real = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *more: None if name == "torch" else real(name, *more))
    small = TABLES["ml-10m"]
    assert chosen_models(small, None) == [name for name in models_of(small) if not needs_torch(name)]
    assert "softmax/lightgcn" in left_out(models_of(small))
    path = str(FILES["ml-10m"](tmp_path))
    monkeypatch.setattr("research.reproduce.command.chosen_models", lambda *_: ["popularity"])  # the rest takes long
    assert run("reproduce", "ml-10m", "--path", path, "--trials", "1", "--seeds", "1") == 0
    printed = short(capsys.readouterr().out)
    assert "left out: bpr, bce, sampled-softmax," in printed
    assert "torch is not installed, pip install 'taylorank[torch]'" in printed


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("netflix",), "the papers have no table for 'netflix'; choose one of: ml-1m,"),
        (("ml-10m", "--path", "nowhere.zip"), "no such file or folder: nowhere.zip; give ml-10m.zip"),
        (("simplewiki", "--path", "."), "does not hold the files of simplewiki; put simplewiki-20250101-pagelinks"),
        (("ml-10m", "--path", "torn.zip", *QUICK), "torn.zip is damaged"),
        (("ml-10m", "--models", "rg3"), "no model is called 'rg3'"),
        (("ml-10m", "--models", ","), "names nothing"),
        (("ml-10m", "--seeds", "0"), "--seeds 0"),
        (("ml-10m", "--cleaning", "none"), "ml-10m has no cleaning 'none'"),
        (("gowalla", "--cleaning", "paper"), "taken as it was published"),
        (("ml-10m", "--with", "nowhere.json"), "cannot read nowhere.json"),
        (("ml-10m", "--joint", "both.json"), "nothing to join"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(run, arguments, words, capsys):
    Path("torn.zip").write_bytes(b"PK\x03\x04 no more")
    assert run("reproduce", *arguments) == 2
    line = capsys.readouterr().err
    assert words in line
    assert line.count("\n") == 1


def test_asking_for_gradients_without_torch_is_bad_input(run, monkeypatch, capsys):
    real = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *more: None if name == "torch" else real(name, *more))
    assert run("reproduce", "ml-10m", "--models", "rg2-paper,softmax") == 2
    assert "softmax: torch is not installed; pip install 'taylorank[torch]'" in capsys.readouterr().err


def test_help_has_an_example(run, capsys):
    assert run("reproduce", "--help") == 0
    assert "Example: python -m research.reproduce" in capsys.readouterr().out


@pytest.mark.parametrize("table", TABLES.values(), ids=lambda table: table.name)
def test_every_row_can_be_run_and_every_printed_number_has_a_column(table):
    names = models_of(table)
    assert [one.name for one in contenders(names)] == names
    assert tr.datasets.info(table.dataset)
    assert all(row.printed is None or len(row.printed) <= len(table.columns) for row in table.rows)
    assert not table.reference or table.row(table.reference).printed
    assert bool(table.reference) == bool(table.printed_on)


def test_the_printed_numbers_stand_in_their_columns():
    for name, place in (("ml-10m", 0), ("electronics", 2), ("steam", 4)):
        row = TABLES[name].row("softmax")
        assert row.printed == TABLE_3["SM"][place : place + 2]
        assert TABLES[name].columns == ("mrr@10", "ndcg@10")
    assert table_named("amazon-electronics") is TABLES["electronics"]
    with pytest.raises(DataError):
        table_named("")
