"""The shape of research: one way to write a command, and records that stay small."""

from __future__ import annotations

import ast

import pytest

from research.places import HERE

RESEARCH = HERE.root / "research"
COMMANDS = ("attack", "bench", "claims", "comparisons", "datasets", "pages", "reproduce")
MOST_BYTES = 3_000_000


def test_one_main_for_each_command_and_none_elsewhere():
    mains = {path.relative_to(RESEARCH).as_posix() for path in RESEARCH.rglob("*.py") if is_main(path.read_text())}
    builds = {"attack/sanitize.py"}  # make sanitize: builds and runs others, so it cannot be one of them
    assert mains == {f"{name}/__main__.py" for name in COMMANDS} | builds


def is_main(source):
    """Whether a module does something when it is run; what it only quotes does not count."""
    parts = ast.parse(source).body
    return any(isinstance(one, ast.If) and "__main__" in ast.unparse(one.test) for one in parts)


def test_options_are_written_in_one_way():
    assert not [path for path in RESEARCH.rglob("*.py") if "argparse" in path.read_text()]


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_with_an_example(run, name, capsys):
    assert run(name, "--help") == 0
    shown = capsys.readouterr().out
    assert f"python -m research.{name}" in shown
    assert name == "bench" or f"Example: python -m research.{name}" in shown


def test_records_are_small():
    kept = [path for path in HERE.records.rglob("*") if path.is_file() and not path.name.endswith(".users.npz")]
    assert sum(path.stat().st_size for path in kept) < MOST_BYTES
