"""The command line: one file per command."""

from taylorank.cli.main import main

__all__ = ["main"]
