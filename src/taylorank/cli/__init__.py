"""The command line: one file per command."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from taylorank.address_space import check_room_to_load
from taylorank.errors import TaylorankError


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line of taylorank, where there is room for what it loads."""
    try:
        check_room_to_load()
    except TaylorankError as error:
        print(f"taylorank: {error}", file=sys.stderr)
        sys.exit(2)
    from taylorank.cli.app import main as run

    run(arguments)


__all__ = ["main"]
