"""What the attacks found, in docs/reliability.md, from what `python -m research.attack --json` wrote."""

from __future__ import annotations

import json
from typing import Any

from research.pages.sections import filled
from research.places import Places

Record = dict[str, Any]
PARTS = "## Parts\n"


def made(name: str, places: Places) -> str:
    """Return the page with the figures of the record."""
    file = places.records / "attack.json"
    attacks = json.loads(file.read_text(encoding="utf-8"))["attacks"] if file.exists() else {}

    def content(section: str) -> str:
        if not attacks:
            return "There is no record yet.\n"
        return f"{parts(attacks) if section.startswith(PARTS) else table(attacks)}\n"

    return filled((places.docs / f"{name}.md").read_text(encoding="utf-8"), content)


def table(attacks: Record) -> str:
    """Return one row for each attack, then how they were run."""
    head = (
        "attack",
        "inputs tried",
        "crashes",
        "hangs",
        "other exceptions",
        "silent differences",
        "skipped",
        "seconds",
    )
    rows = [head, ("---", *["---:"] * (len(head) - 1))]
    for name, found in attacks.items():
        counts = [found[kind] for kind in ("tried", "crash", "hang", "exception", "difference", "skipped")]
        rows.append((f"**{name}**: {found['says']}", *(f"{count:,}" for count in counts), f"{found['seconds']:,.0f}"))
    lines = [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join([*lines, "", *(f"- {name}: {_how(found)}" for name, found in attacks.items())])


def _how(found: Record) -> str:
    machine = found["machine"]
    commit = f", commit {found['commit'][:12]}" if "commit" in found else ""
    return f"`{found['command']}`{commit}; {machine['cpu']}, {machine['cores']} cores"


def parts(attacks: Record) -> str:
    """Return what was counted and measured within the attacks."""
    lines = ["| attack | counted | |", "|---|---|---:|"]
    for name, found in attacks.items():
        lines += [f"| {name} | {part} | {count:,} |" for part, count in found.get("parts", {}).items()]
        for measure, values in found.get("measures", {}).items():
            text = ", ".join(f"{key} {value:g}" for key, value in values.items())
            lines.append(f"| {name} | {measure} | {text} |")
    return "\n".join(lines)
