"""What the benchmark records say, in docs/benchmarks.md.

A section of the page opens with its command, `python -m research.bench NAME --json research/records/bench/FILE.json`,
indented; its last indented block is what the benchmark says of that file. Where the file is not there yet, the section
has no results.
"""

from __future__ import annotations

import json
import re

from research.bench import module_of
from research.pages.sections import sections
from research.places import Places

COMMAND = re.compile(r"^    python -m research\.bench (\S+) --json (research/records/bench/\S+\.json)$", re.MULTILINE)
BLOCK = re.compile(r"(?:^    .*\n)+", re.MULTILINE)


def made(name: str, places: Places) -> str:
    """Return the page with the results of every section as the files have them."""
    page = (places.docs / f"{name}.md").read_text(encoding="utf-8")
    return "".join(_section(section, places) for section in sections(page))


def _section(section: str, places: Places) -> str:
    command = COMMAND.search(section)
    if command is None:
        return section
    blocks = list(BLOCK.finditer(section))
    if len(blocks) > 1:
        section = section[: blocks[-1].start()]
    file = places.root / command[2]
    if not file.exists():
        return f"{section.rstrip()}\n\n"
    lines = module_of(command[1]).describe(json.loads(file.read_text(encoding="utf-8")))
    block = "".join(f"    {line}\n" for line in lines)
    return f"{section.rstrip()}\n\n{block}\n"
