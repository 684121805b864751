"""How pages and records are written: whole or not at all."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from taylorank.machine import source_commit
from taylorank.output import atomic_path


def write_text(path: Path, text: str) -> None:
    """Write a page."""
    with atomic_path(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def provenance(command: str) -> dict[str, str]:
    """Return how a record came about: the command that writes it and, in a checkout, the commit of the library."""
    commit = source_commit()
    return {"command": command} | ({} if commit is None else {"commit": commit})


def write_json(path: Path, content: Any, *, indent: int | None = 1) -> None:
    """Write a record."""
    write_text(path, json.dumps(content, indent=indent, ensure_ascii=False) + "\n")
