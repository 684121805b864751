"""Options over all commands: one meaning and one help text for each name, one order, help that fits a terminal."""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from typing import get_args, get_type_hints

import pytest
from cyclopts import Parameter

from taylorank.cli import (
    compare,
    datasets,
    demo,
    diagnose,
    evaluate,
    explain,
    export,
    fit,
    fold_in,
    leakage,
    recommend,
    report,
    serve,
    similar,
    split,
    train,
    tune,
    update,
)
from taylorank.cli import run as run_command
from taylorank.cli.completion import completion_of
from tests.cli.command import run

COMMANDS = {
    ("run",): run_command.run,
    ("fit",): fit.fit,
    ("train",): train.train,
    ("tune",): tune.tune,
    ("compare",): compare.compare,
    ("report",): report.report,
    ("recommend",): recommend.recommend,
    ("evaluate",): evaluate.evaluate,
    ("export",): export.export,
    ("diagnose",): diagnose.diagnose,
    ("serve",): serve.serve,
    ("demo",): demo.demo,
    ("split",): split.split,
    ("leakage",): leakage.leakage,
    ("update",): update.update,
    ("fold-in",): fold_in.fold_in,
    ("similar",): similar.similar,
    ("explain",): explain.explain,
    ("completion",): completion_of(None),
    ("datasets", "list"): datasets.list_,
    ("datasets", "get"): datasets.get,
    ("datasets", "stats"): datasets.stats,
}
SHARED = ("cleaning", "core", "k", "num_threads", "seed", "quiet", "options")
ORDER = (
    "cleaning",
    "core",
    "model",
    "models",
    "metric",
    "metrics",
    "k",
    "file",
    "out",
    "json",
    "report",
    "seed",
    "quiet",
)

every_command = pytest.mark.parametrize("words", COMMANDS, ids=" ".join)


def annotations(command):
    return get_type_hints(command, include_extras=True)


def help_of(hint) -> str:
    return next(part.help for part in get_args(hint) if isinstance(part, Parameter))


def test_all_commands_are_here(capsys):
    run("--help")
    listed = set(re.findall(r"^│ (\w[\w-]*) ", capsys.readouterr().out, re.MULTILINE))
    run("datasets", "--help")
    of_datasets = set(re.findall(r"^│ (\w+) ", capsys.readouterr().out, re.MULTILINE))
    assert {words[0] for words in COMMANDS} == listed
    assert {words[1] for words in COMMANDS if len(words) > 1} == of_datasets


@pytest.mark.parametrize("name", SHARED)
def test_a_shared_option_is_the_same_everywhere(name):
    hints = [hints[name] for hints in map(annotations, COMMANDS.values()) if name in hints]
    assert len(hints) > 1
    assert all(hint == hints[0] for hint in hints)


@every_command
def test_json_is_a_file_and_says_the_same(words):
    hint = annotations(COMMANDS[words]).get("json")
    if hint is not None:
        assert get_args(get_args(hint)[0])[0] is Path
        assert help_of(hint).startswith("Write the results as JSON to this file")


@every_command
def test_every_command_can_be_quiet_and_calls_a_seed_a_seed(words):
    names = annotations(COMMANDS[words])
    assert "random_state" not in names
    assert "quiet" in names or words == ("completion",)


@every_command
def test_options_come_in_one_order(words):
    parameters = inspect.signature(COMMANDS[words]).parameters.values()
    names = [one.name for one in parameters if one.kind is one.KEYWORD_ONLY and one.name in ORDER]
    assert names == sorted(names, key=ORDER.index)


@every_command
def test_help_fits_80_columns(words, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    assert run(*words, "--help") == 0
    shown = capsys.readouterr().out
    for line in inspect.getdoc(COMMANDS[words]).splitlines():
        assert f"\n{line}\n" in shown  # not broken in two
    assert f"Example: taylorank {' '.join(words)}" in shown
    assert max(map(len, shown.splitlines())) <= 80
    assert "--empty-" not in shown
    assert "[default: False]" not in shown


def test_the_purpose_of_a_command_is_one_line_in_the_list(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    run("--help")
    listed = capsys.readouterr().out
    run("datasets", "--help")
    listed += capsys.readouterr().out
    for words, command in COMMANDS.items():
        purpose = inspect.getdoc(command).splitlines()[0]
        assert re.search(rf"│ {words[-1]} +{re.escape(purpose)} +│", listed), words


def test_a_json_option_without_file_is_refused(capsys):
    assert run("evaluate", "m.tr", "t.csv", "--json", "--quiet") == 2
    complaint = capsys.readouterr().err
    assert "--json" in complaint
    assert "- for standard output" in complaint
    assert complaint.count("\n") == 1
