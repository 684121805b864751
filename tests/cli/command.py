"""The command line, called as a shell calls it."""

from __future__ import annotations

from taylorank import cli


def run(*arguments: str) -> int:
    """Run `taylorank` with the arguments; return the exit code."""
    try:
        cli.main(list(arguments))
    except SystemExit as end:
        return int(end.code or 0)
    return 0
