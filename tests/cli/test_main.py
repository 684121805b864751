"""The command line as a person meets it: exit codes, one clear line, nothing left behind."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys

import polars as pl
import pytest

import taylorank as tr
from tests.cli.command import run


def test_run_prints_a_table_and_writes_the_results(tmp_path, capsys):
    small = ("--users", "200", "--items", "80", "--interactions", "3000", "--seed", "3")
    assert run("run", "--out", str(tmp_path / "a"), *small) == 0
    shown = capsys.readouterr().out
    assert "Popularity" in shown
    assert "best possible" in shown
    assert "core(5) removed" in shown
    results = json.loads((tmp_path / "a" / "results.json").read_text())
    scores = {r["model"]: r["metrics"]["ndcg@10"] for r in results["results"]}
    assert 0 < scores["Popularity"] < scores["best possible"] < 1
    assert list(scores) == ["Popularity", "IALS", "RG2", "best possible"]
    settings = {r["model"]: r.get("settings") for r in results["results"]}
    assert settings["IALS"] == settings["RG2"] == 24
    regrets = {r["model"]: r["metrics"]["regret@10"] for r in results["results"]}
    assert regrets["best possible"] == pytest.approx(0, abs=1e-7)
    assert min(regrets["RG2"], regrets["IALS"], regrets["Popularity"]) > 0
    said = " ".join(shown.split())
    assert "planted: the data are simulated" in said
    assert "regret@10: how far a list of 10 is below the best possible one" in said
    assert "expected NDCG@10: the NDCG@10 that the list has on average" in said
    assert "RGX (RG×) has no row of its own: as a factor model it has the same solution as RG2" in said
    assert "by validation data of seeds 10 to 14 from ranges set by hand" in said
    assert results["machine"]["kernels"]
    model = tmp_path / "a" / "rg2.tr"
    assert f"explore the model: taylorank serve {model}" in shown.replace("\n", "")
    assert [found.factors for found in tr.load(model).path([1, 4], [0.1])] == [1, 4]
    assert run("run", "--out", str(tmp_path / "b"), "--quiet", *small) == 0
    assert capsys.readouterr().out == ""
    again = json.loads((tmp_path / "b" / "results.json").read_text())
    assert [r["metrics"] for r in again["results"]] == [r["metrics"] for r in results["results"]]


def test_version_names_the_kernels(capsys):
    assert run("--version") == 0
    line = capsys.readouterr().out
    assert line.startswith("taylorank ")
    assert "kernels" in line
    assert "thread" in line


@pytest.mark.parametrize("words", [(), ("run",), ("datasets",), ("datasets", "get"), ("datasets", "stats")])
def test_every_command_has_help_with_an_example(words, capsys):
    assert run(*words, "--help") == 0
    shown = capsys.readouterr().out
    assert "taylorank " + " ".join(words) in shown
    if words not in ((), ("datasets",)):
        assert "Example: taylorank" in shown


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("run", "--core", "4000"), "core(4000) removed all"),
        (("run", "--interactions", "5"), "do not fit"),
        (("run", "--seed", "soon"), "--seed"),
        (("run", "--seed", "-1"), "--seed. Must be >= 0"),
        (("dance",), "dance"),
        (("datasets", "stats", "nowhere.csv"), "no such file: nowhere.csv"),
        (("datasets", "stats", "ml-2m"), "did you mean"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(arguments, words, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert run(*arguments) == 2
    complaint = capsys.readouterr().err
    assert words in complaint
    assert complaint.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def write_bad_files(folder):
    good = b"user,item\n" + b"".join(b"%d,%d\n" % (k, k % 9) for k in range(2000))
    pl.DataFrame({"user": [1], "item": [2]}).write_parquet(folder / "whole.parquet")
    contents = {
        "empty.csv": b"",
        "cut.csv.gz": gzip.compress(good)[:500],
        "cut.parquet": (folder / "whole.parquet").read_bytes()[:-30],
        "binary.csv": bytes(range(256)),
        "latin.csv": "user,item\n1,é\n".encode("latin-1"),
        "columns.csv": b"who,what\n1,2\n",
        "twice.csv": b"user,item,user\n1,2,3\n",
        "ambiguous.csv": b"user,uid,item\n1,2,3\n",
    }
    for name, content in contents.items():
        (folder / name).write_bytes(content)
    return list(contents)


def test_every_bad_file_is_one_line_and_exit_code_2(tmp_path, capsys):
    for name in write_bad_files(tmp_path):
        assert run("datasets", "stats", str(tmp_path / name)) == 2, name
        captured = capsys.readouterr()
        assert captured.out == ""
        assert captured.err.count("\n") == 1, captured.err
        assert name in captured.err


def test_files_are_read_with_the_options_given(tmp_path, capsys):
    path = tmp_path / "log.txt"
    path.write_text("who|what|stars\n007|x|5\n7|x|1\n8|y|4\n")
    options = ("--user", "who", "--item", "what", "--rating", "stars", "--min-rating", "3", "--json", "-")
    assert run("datasets", "stats", str(path), *options) == 0
    facts = json.loads(capsys.readouterr().out)
    assert (facts["users"], facts["items"], facts["interactions"]) == (2, 2, 2)
    path.write_text("a,1\nb,2\n")
    assert run("datasets", "stats", str(path), "--columns", "item,user", "--json", "-") == 0
    assert json.loads(capsys.readouterr().out)["users"] == 2


@pytest.mark.skipif(os.geteuid() == 0 and not os.path.isdir("/proc"), reason="needs a folder nobody can write to")
def test_an_unwritable_folder_is_found_before_the_work(capsys):
    assert run("run", "--out", "/proc/taylorank") == 2
    captured = capsys.readouterr()
    assert "cannot write /proc/taylorank" in captured.err
    assert captured.out == ""


def test_the_module_is_quick_to_import_and_needs_only_numpy_and_scipy():
    """What the closed-form path imports; polars, rich and the rest must wait until they are used."""
    code = (
        "import sys, numpy as np, taylorank as tr\n"
        "train, valid, test = tr.planted(50, 30, interactions=300).core(2).split()\n"
        "tr.evaluate(tr.Popularity().fit(train), test, seen=[train, valid])\n"
        "tr.Interactions.from_arrays(['a'], ['b']).save_npz('x.npz'); tr.Interactions.load_npz('x.npz')\n"
        "heavy = {'polars', 'narwhals', 'rich', 'cyclopts', 'pandas', 'torch', 'backports', 'safetensors'}\n"
        "sys.exit(str(heavy & set(sys.modules)) if heavy & set(sys.modules) else 0)\n"
    )
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def command(*words, **environment):
    return [sys.executable, "-c", "from taylorank.cli import main; main()", *words], {**os.environ, **environment}


SMALL = ("run", "--users", "60", "--items", "30", "--interactions", "600")


@pytest.mark.parametrize("name", ["claims", "bench", "reproduce"])
def test_what_moved_to_research_says_where_it_is(name, capsys):
    for arguments in ((name,), (name, "--help"), (name, "one", "--json", "f.json")):
        assert run(*arguments) == 2
        line = capsys.readouterr().err
        assert f"make {name}" in line
        assert f"python -m research.{name}" in line
        assert line.count("\n") == 1
    assert run("--help") == 0
    assert name not in capsys.readouterr().out


def test_terminals_of_any_kind(tmp_path):
    for environment in ({"PYTHONIOENCODING": "latin-1"}, {"COLUMNS": "0"}, {"COLUMNS": "30"}, {"TERM": "dumb"}):
        arguments, env = command(*SMALL, "--out", "o", **environment)
        done = subprocess.run(arguments, env=env, cwd=tmp_path, capture_output=True, check=False)
        assert done.returncode == 0, done.stderr
        assert b"best possible" in done.stdout
        assert b"0.1" in done.stdout or b"0.2" in done.stdout or b"0.3" in done.stdout


def test_a_reader_that_goes_away_costs_nothing(tmp_path):
    arguments, env = command(*SMALL, "--out", "o")
    process = subprocess.Popen(arguments, env=env, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    process.stdout.close()
    complaint = process.stderr.read()
    process.stderr.close()
    process.wait()
    assert complaint == b""
    assert (tmp_path / "o" / "results.json").exists()


def test_ctrl_c_says_so(monkeypatch, capsys):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("taylorank.cli.run.planted", interrupted)
    assert run("run", "--out", "never") == 130
    assert "interrupted" in capsys.readouterr().err
    assert not os.path.exists("never")


def test_ctrl_c_while_a_model_is_tuned_leaves_no_half_of_a_table(tmp_path, monkeypatch, capsys):
    original, fits = tr.IALS.fit, []

    def fit(self, *args, **kwargs):
        fits.append(self)
        if len(fits) == 3:
            raise KeyboardInterrupt
        return original(self, *args, **kwargs)

    monkeypatch.setattr(tr.IALS, "fit", fit)
    assert run(*SMALL, "--out", str(tmp_path / "never")) == 130
    assert "interrupted" in capsys.readouterr().err
    assert not (tmp_path / "never").exists()


def test_a_package_that_cannot_be_loaded_is_one_line(tmp_path, monkeypatch, capsys):
    def broken(*_, **__):
        raise ImportError("x.so: failed to map segment\nfrom shared object")

    monkeypatch.setattr("taylorank.cli.train.open_data", broken)
    assert run("train", "log.csv", "--out", str(tmp_path / "m.tr")) == 2
    said = capsys.readouterr().err
    assert said.startswith("taylorank: a package cannot be loaded (x.so: failed to map segment from shared object)")
    assert said.count("\n") == 1
    assert list(tmp_path.iterdir()) == []
