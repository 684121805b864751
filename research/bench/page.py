"""Puts what the benchmark files say into the page about them.

    python -m research.bench.page docs/benchmarks.md

A section of the page opens with its command, `taylorank bench NAME --json docs/bench/FILE.json`, indented; its last
indented block is what the benchmark says of that file. Where the file is not there yet, the section has no results.
"""

from __future__ import annotations

import importlib
import json
import re
import sys
from pathlib import Path

from research.bench import BENCHMARKS
from taylorank.output import atomic_path

COMMAND = re.compile(r"^    taylorank bench (\S+) --json docs/(bench/\S+\.json)$", re.MULTILINE)
BLOCK = re.compile(r"(?:^    .*\n)+", re.MULTILINE)


def refreshed(page: str, docs: Path) -> str:
    """Return the page with the results of every section as the files beside it have them."""
    sections = re.split(r"^(?=## )", page, flags=re.MULTILINE)
    return "".join(_section(section, docs) for section in sections)


def _section(section: str, docs: Path) -> str:
    command = COMMAND.search(section)
    if command is None:
        return section
    blocks = list(BLOCK.finditer(section))
    if len(blocks) > 1:
        section = section[: blocks[-1].start()]
    if not (docs / command[2]).exists():
        return f"{section.rstrip()}\n\n"
    module = importlib.import_module(BENCHMARKS[command[1]])
    told = "".join(f"    {line}\n" for line in module.describe(json.loads((docs / command[2]).read_text())))
    return f"{section.rstrip()}\n\n{told}\n"


def main(path: Path) -> None:
    """Rewrite the page."""
    text = refreshed(path.read_text(encoding="utf-8"), path.parent).rstrip() + "\n"
    with atomic_path(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
