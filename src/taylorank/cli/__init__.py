"""The command line: one file per command."""

from taylorank.cli.app import main

__all__ = ["main"]
