"""How tests call the commands of research."""

from __future__ import annotations

import importlib
from collections.abc import Callable

import pytest

from taylorank.cli.app import run_app


@pytest.fixture
def run() -> Callable[..., int]:
    """`python -m research.COMMAND arguments…` in this process; the exit code."""

    def called(command: str, *arguments: object) -> int:
        app = importlib.import_module(f"research.{command}.__main__").app
        try:
            run_app(app, list(map(str, arguments)), program=f"python -m research.{command}")
        except SystemExit as end:
            return int(end.code or 0)
        return 0

    return called
