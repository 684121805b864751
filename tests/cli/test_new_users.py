"""`split`, `fold-in`, `update`, `similar`, `explain` and `completion` do what Python does."""

from __future__ import annotations

import json
import shutil
import subprocess

import numpy as np
import polars as pl
import pytest

import taylorank as tr
from taylorank.cli.app import HELP, app
from tests.cli.command import run

DATA = tr.planted(90, 40, interactions=1500, random_state=4)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("models")
    DATA.to_frame().write_csv(place / "log.csv")
    DATA[:60].to_frame().write_csv(place / "early.csv")
    DATA[60:].to_frame().write_csv(place / "late.csv")
    tr.RG2(6).fit(tr.read_interactions(place / "early.csv")).save(place / "rg2.tr")
    tr.EASE().fit(DATA).save(place / "ease.tr")
    rows = np.arange(200)
    texts = tr.Interactions.from_arrays([f"u{u}" for u in rows % 40], [f"i {i}" for i in (rows * 7) % 41])
    tr.RG2(3).fit(texts).save(place / "text.tr")
    return place


@pytest.mark.parametrize("kind", ["csv", "parquet", "npz"])
def test_split_writes_what_python_splits(folder, tmp_path, kind, capsys):
    assert run("split", str(folder / "log.csv"), "--out", str(tmp_path / "parts"), "--to", kind, "--seed", "3") == 0
    parts = [tr.data.source.open_data(tmp_path / "parts" / f"{name}.{kind}") for name in ("train", "valid", "test")]
    expected = tr.read_interactions(folder / "log.csv").split(random_state=3)
    assert [part.nnz for part in parts] == [part.nnz for part in expected]
    assert tr.merge(parts) == tr.merge(expected)
    assert "train" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "names"),
    [
        (["--by", "last", "--held", "2"], {"train", "valid", "test"}),
        (["--by", "time", "--ratios", "0.9,0.1"], {"train", "test"}),
        (["--by", "blocks", "--ratios", "0.8,0.2"], {"train", "test"}),
        (["--by", "blocks"], {"train", "valid", "test"}),
        (["--by", "users"], {"train", "valid", "test", "valid-seen", "test-seen"}),
    ],
)
def test_split_by_other_rules(folder, tmp_path, options, names):
    assert run("split", str(folder / "log.csv"), "--out", str(tmp_path), *options) == 0
    assert {path.stem for path in tmp_path.glob("*.csv")} == names
    total = sum(len(pl.read_csv(path)) for path in tmp_path.glob("*.csv"))
    assert total == DATA.nnz
    if "users" in options:
        users = {name: set(pl.read_csv(tmp_path / f"{name}.csv")["user"]) for name in names}
        assert users["train"].isdisjoint(users["test-seen"])
        assert users["test"] <= users["test-seen"]


def test_split_reads_a_file_in_the_format_it_is_told(tmp_path):
    """--format is that of the file that is read; --to that of the files that are written."""
    (tmp_path / "odd.txt").write_text("0 1 2 3\n1 0 2 4\n2 1 3 4\n")
    out = tmp_path / "parts"
    assert run("split", str(tmp_path / "odd.txt"), "--format", "adjacency", "--to", "npz", "--out", str(out)) == 0
    assert sum(tr.Interactions.load_npz(path).nnz for path in out.glob("*.npz")) == 9
    assert len(list(out.iterdir())) == 3


def test_every_command_has_each_option_once():
    """An option with the name of another one hides it."""
    from inspect import signature

    from taylorank.cli.options import FileOptions

    of_files = set(FileOptions.__dataclass_fields__)
    for command in ("split", "fit", "train", "tune", "compare", "evaluate", "fold-in", "update", "leakage"):
        own = signature(app[command].default_command).parameters
        assert not of_files & set(own), f"{command}: {of_files & set(own)}"


def test_split_by_blocks_holds_out_like_items(folder, tmp_path):
    """The items of a user in test are more alike than random ones."""
    assert run("split", str(folder / "log.csv"), "--by", "blocks", "--to", "npz", "--out", str(tmp_path)) == 0
    parts = [tr.Interactions.load_npz(tmp_path / f"{name}.npz") for name in ("train", "valid", "test")]
    log = tr.read_interactions(folder / "log.csv")
    assert tr.merge(parts) == log
    by_hand = tr.selection.split_blocks(log, 0.1)
    assert parts[2] == by_hand[1]


def test_leakage_finds_what_is_in_two_parts(folder, tmp_path, capsys):
    parts = [tmp_path / f"{name}.csv" for name in ("train", "test")]
    for path, part in zip(parts, DATA.split((0.8, 0.2)), strict=True):
        part.to_frame().write_csv(path)
    assert run("leakage", *map(str, parts), "--order", "any") == 0
    assert "no leak" in capsys.readouterr().out
    assert run("leakage", *map(str, parts)) == 3  # times are known, and the split was at random
    assert "split with split_time()" in capsys.readouterr().out
    assert run("leakage", str(folder / "log.csv"), str(parts[1])) == 3
    shown = capsys.readouterr()
    assert "pairs are in train and in test" in shown.out
    assert "warning" not in shown.err
    assert run("leakage", str(parts[0])) == 2


@pytest.mark.parametrize("ratios", ["a,b", "0.5", "0.9,0.9", ""])
def test_split_refuses_what_are_no_shares(folder, tmp_path, ratios, capsys):
    assert run("split", str(folder / "log.csv"), "--out", str(tmp_path / "p"), "--ratios", ratios) == 2
    assert len(capsys.readouterr().err.strip().splitlines()) == 1


def test_fold_in_recommends_to_users_whom_the_model_does_not_know(folder, tmp_path, capsys):
    out = tmp_path / "recs.parquet"
    assert run("fold-in", str(folder / "rg2.tr"), str(folder / "late.csv"), "-n", "5", "--out", str(out)) == 0
    late = tr.read_interactions(folder / "late.csv")
    ids, _ = tr.load(folder / "rg2.tr").fold_in(late).recommend(late.user_ids, 5)
    assert pl.read_parquet(out)["item"].to_list() == ids.ravel().tolist()
    assert "30 users" in capsys.readouterr().out
    assert run("fold-in", str(folder / "rg2.tr"), str(folder / "late.csv")) == 2  # too many for a screen
    assert "--out" in capsys.readouterr().err


def test_fold_in_prints_few_users_and_keeps_the_model(folder, tmp_path, capsys):
    two = tmp_path / "two.csv"
    two.write_text("user,item\nann,1\nann,2\nbob,3\n")
    assert run("fold-in", str(folder / "rg2.tr"), str(two), "-n", "3") == 0
    assert capsys.readouterr().out.count("ann") == 3
    assert run("fold-in", str(folder / "rg2.tr"), str(two), "--json", "-", "-n", "2") == 0
    assert json.loads(capsys.readouterr().out)["user"] == ["ann", "ann", "bob", "bob"]
    assert run("fold-in", str(folder / "rg2.tr"), str(two), "--save", str(tmp_path / "two.tr")) == 0
    assert list(tr.load(tmp_path / "two.tr").users) == ["ann", "bob"]


def test_update_takes_in_new_users(folder, tmp_path, capsys):
    file = shutil.copy(folder / "rg2.tr", tmp_path / "model.tr")
    assert run("update", str(file), str(folder / "late.csv"), "--out", str(file), "--sweeps", "2") == 0
    assert "30 new users, 0 new items" in capsys.readouterr().out
    updated, expected = tr.load(file), tr.load(folder / "rg2.tr")
    expected.partial_fit(tr.read_interactions(folder / "late.csv"), sweeps=2)
    assert np.array_equal(updated.item_factors, expected.item_factors)
    assert len(updated.users) == 90


def test_a_model_that_cannot_be_updated_says_so(folder, tmp_path, capsys):
    assert run("update", str(folder / "ease.tr"), str(folder / "late.csv"), "--out", str(tmp_path / "m.tr")) == 2
    assert "EASE has no partial_fit" in capsys.readouterr().err
    assert not (tmp_path / "m.tr").exists()


def test_similar_shows_what_python_finds(folder, capsys):
    assert run("similar", str(folder / "rg2.tr"), "--item", "7", "--item", "9", "-n", "4", "--json", "-") == 0
    shown = json.loads(capsys.readouterr().out)
    ids, _ = tr.load(folder / "rg2.tr").similar_items([7, 9], 4)
    assert [one["similar"] for one in shown] == ids.tolist()
    assert run("similar", str(folder / "rg2.tr"), "--user", "3", "-n", "2") == 0
    assert len(capsys.readouterr().out.strip().splitlines()) == 4  # head, rule, two neighbours
    assert run("similar", str(folder / "text.tr"), "--item", "i 3", "-n", "2") == 0
    assert "i 3" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ([], "--item or --user"),
        (["--item", "1", "--user", "1"], "--item or --user"),
        (["--item", "999"], "unknown item 999"),
        (["--item", "x"], "unknown item 'x' (ids here are integers)"),
        (["--user", "1", "-n", "0"], "n"),
    ],
)
def test_similar_refuses_in_one_line(folder, options, says, capsys):
    assert run("similar", str(folder / "rg2.tr"), *options) == 2
    error = capsys.readouterr().err.strip()
    assert says in error
    assert "\n" not in error


def test_explain_shows_what_python_explains(folder, capsys):
    assert run("explain", str(folder / "rg2.tr"), "--user", "5", "--item", "11", "-n", "3", "--json", "-") == 0
    shown = json.loads(capsys.readouterr().out)
    found = tr.load(folder / "rg2.tr").explain(5, 11, 3)
    assert shown["score"] == pytest.approx(found.score)
    assert [one["item"] for one in shown["contributions"]] == found.items.tolist()
    assert run("explain", str(folder / "rg2.tr"), "--user", "5", "--item", "11") == 0
    assert f"score {found.score:.4g}" in capsys.readouterr().out
    assert run("explain", str(folder / "rg2.tr"), "--user", "77", "--item", "11") == 2


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_is_a_script_that_knows_the_commands(shell, capsys, tmp_path):
    assert run("completion", shell) == 0
    script = capsys.readouterr().out
    assert "fold-in" in script
    assert "--min-rating" in script
    if shutil.which(shell):
        (tmp_path / "script").write_text(script)
        assert subprocess.run([shell, "-n", str(tmp_path / "script")], capture_output=True).returncode == 0
    assert run("completion", "tcsh") == 2


def test_the_help_names_exit_codes_and_every_command_is_there(capsys):
    assert "Exit codes" in HELP
    for code in ("0", "2", "3", "130", "143"):
        assert f" {code} " in HELP.partition("Exit codes")[2]
    assert run("--help") == 0
    shown = capsys.readouterr().out
    for name in "split leakage fit similar explain fold-in update export serve demo completion".split():
        assert name in shown
        assert app[name] is not None
