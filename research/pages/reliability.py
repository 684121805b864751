"""What the attacks found, in docs/reliability.md, from what `python -m research.attack --json` wrote."""

from __future__ import annotations

import json
from typing import Any

from research.pages.sections import filled
from research.places import Places

Record = dict[str, Any]
PARTS = "## Parts\n"
SANITIZERS = "## Sanitizers\n"


def made(name: str, places: Places) -> str:
    """Return the page with the figures of the record."""
    attacks, builds = (_of(places, *one) for one in (("attack.json", "attacks"), ("sanitize.json", "builds")))

    def content(section: str) -> str:
        known = builds if section.startswith(SANITIZERS) else attacks
        shown = sanitized if known is builds else parts if section.startswith(PARTS) else table
        return f"{shown(known)}\n" if known else "There is no record yet.\n"

    return filled((places.docs / f"{name}.md").read_text(encoding="utf-8"), content)


def _of(places: Places, name: str, key: str) -> Record:
    file = places.records / name
    return dict(json.loads(file.read_text(encoding="utf-8"))[key]) if file.exists() else {}


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
    how = [f"- {name}: {_how(found)}" for name, found in attacks.items()]
    return "\n".join([*lines, "", *_faults(attacks), "", *how])


def _faults(attacks: Record) -> list[str]:
    """Return the faults of the record, one by one."""
    faults = [(name, fault) for name, found in attacks.items() for fault in found["faults"]]
    if not faults:
        return ["No fault was found."]
    said = [f"- *{name}*, seed {fault['seed']}: {fault['fault']}, `{fault['what']}`" for name, fault in faults]
    return ["What was found, and is mended or to be mended before the next release:", "", *said]


def _how(found: Record) -> str:
    machine = found["machine"]
    known = found.get("commit", "")
    commit = f", commit {known[:12]}{' and changes' if known.endswith('-dirty') else ''}" if known else ""
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


def sanitized(builds: Record) -> str:
    """Return one row for each build of the native kernels with sanitizers, then how they were run."""
    lines = ["| build | tests passed | skipped | cases of the attack | faults |", "|---|---:|---:|---:|---:|"]
    for found in builds.values():
        attack = found["attack"]
        counts = (found["tests"], found["skipped"], attack["tried"], len(attack["faults"]))
        lines.append(f"| {found['says']} | {' | '.join(f'{count:,}' for count in counts)} |")
    return "\n".join([*lines, "", *(f"- {found['says']}: {_how(found)}" for found in builds.values())])
