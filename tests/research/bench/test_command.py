"""`python -m research.bench`."""

from __future__ import annotations

import json

import pytest

from research.bench import BENCHMARKS, module_of
from research.bench.command import app
from taylorank.machine import source_commit


def test_bench_runs_and_writes_its_record(run, tmp_path, capsys):
    target = tmp_path / "read.json"
    assert run("bench", "read", "--quick", "--json", target) == 0
    shown = capsys.readouterr().out
    assert "against pandas" in shown
    assert f"written: {target}" in shown
    record = json.loads(target.read_text())
    assert {r["format"] for r in record["results"]} == {"csv", "parquet"}
    assert record["command"] == f"python -m research.bench read --quick --json {target}"
    assert record.get("commit") == source_commit()
    assert record["machine"]["stolen_cpu_share"] >= 0


def test_quiet_prints_nothing(run, monkeypatch, capsys):
    monkeypatch.setattr("research.bench.command.run_benchmark", lambda *_, **__: ({}, ["said"]))
    assert run("bench", "als", "--quiet") == 0
    assert capsys.readouterr().out == ""
    assert run("bench", "als") == 0
    assert capsys.readouterr().out == "als\n  said\n"


def test_without_a_name_it_lists_what_there_is(run, capsys):
    assert run("bench") == 0
    shown = capsys.readouterr().out
    assert all(f" {name} " in shown for name in BENCHMARKS)


@pytest.mark.parametrize("name", BENCHMARKS)
def test_every_benchmark_has_help_with_an_example(run, name, capsys):
    if name in ("convergence", "sequential", "softmax-family", "stable-rates", "towers"):
        pytest.importorskip("torch")
    assert run("bench", name, "--help") == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert f"Example: python -m research.bench {name} " in shown
    assert "--json" in shown
    assert callable(module_of(name).describe)


@pytest.mark.parametrize("name", [name for name, one in BENCHMARKS.items() if one.example != "--quick"])
def test_the_examples_can_be_read(name):
    pytest.importorskip("torch")
    example = BENCHMARKS[name].example.partition(" --json")[0]
    _, given, left = app.parse_args([name, *example.split()], exit_on_error=False, print_error=False)
    assert given.arguments
    assert set(left) <= {"file", "command", "log_line"}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("nothing",), 'Unknown command "nothing"'),
        (("als", "--nothing"), "--nothing"),
        (("als", "--log-line", "x"), "--log-line"),
        (("rg-step", "--items", "many"), "--items many holds no whole numbers"),
        (("published-split", "a.npz", "b.npz", "bpr", "--set", "epochs"), "--set epochs names no value"),
        (("stable-rates",), "DATA"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(run, arguments, words, capsys):
    pytest.importorskip("torch")
    assert run("bench", *arguments) == 2
    line = capsys.readouterr().err
    assert words in line
    assert line.count("\n") == 1


def test_a_folder_that_cannot_be_written_is_known_before_the_work(run, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("research.bench.command.run_benchmark", lambda *_, **__: pytest.fail("ran"))
    (tmp_path / "file").write_text("")
    assert run("bench", "als", "--json", tmp_path / "file" / "als.json") == 2
    assert "cannot write" in capsys.readouterr().err
