"""The claims with their verdicts, from what `python -m research.claims --json` wrote.

docs/claims.md is for reading: people wrote what to take from it, and the counts behind `<!-- found -->` are made. The
detail is made as a whole: docs/claims-in-detail.md lists every claim, docs/claims/GROUP.md what was measured and how.
records/claims/claims.json has every claim; the other files of that folder have claims on real data that were tested.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from typing import Any

from research.claims.claim import CORRECTED, FAILS, HOLDS, UNDECIDED, UNTESTED, VERDICTS
from research.pages.claim_figures import FOLDER, draw_claims, has_figure
from research.pages.claim_words import GROUP_HEAD, HEAD, MARKS, PILOT
from research.pages.sections import filled
from research.pages.tables import Table
from research.papers import references
from research.places import Places

Record = dict[str, Any]
DETAIL = "claims-in-detail"
FIRST = (FAILS, UNDECIDED, CORRECTED, HOLDS, UNTESTED)  # what a reader looks for, in this order


def made(name: str, places: Places) -> str:
    """Return the page for reading: what people wrote, and the counts."""
    first, *others = _records(places)
    claims = merged(first, others)
    return filled((places.docs / f"{name}.md").read_text(encoding="utf-8"), lambda _: counts(claims))


def more(places: Places) -> dict[str, str]:
    """Return the pages of the detail by name."""
    first, *others = _records(places)
    return details(first, others)


def draw(places: Places) -> None:
    """Draw the figures of the page."""
    first, *others = _records(places)
    draw_claims(merged(first, others), places.docs / FOLDER)


def _records(places: Places) -> list[Record]:
    """Return all claims, then the files with claims on real data."""
    first = places.records / "claims" / "claims.json"
    others = sorted(path for path in first.parent.glob("*.json") if path != first)
    return [json.loads(path.read_text(encoding="utf-8")) | {"file": path.name} for path in (first, *others)]


def details(record: Record, heavy: Sequence[Record] = ()) -> dict[str, str]:
    """Return the list of all claims and a page for each group; `heavy` take the place of claims untested."""
    claims = merged(record, heavy)
    commands = [record["command"], *(one["command"] for one in heavy), "python -m research.pages claims"]
    groups = list(dict.fromkeys(claim["group"] for claim in claims))
    head = HEAD.format(
        commands="\n".join(f"    {line}" for line in commands),
        references=references(),
        summary=_summary(claims),
        pilot=", ".join(PILOT),
        pages="\n".join(f"{FOLDER}/{slug(group)}" for group in groups),
    )
    pages = {DETAIL: head}
    for group in groups:
        sections = "\n".join(map(_section, _of(claims, group)))
        pages[f"{FOLDER}/{slug(group)}"] = GROUP_HEAD.format(group=group) + sections
    return pages


def merged(record: Record, heavy: Sequence[Record]) -> list[Record]:
    """Return the claims of a record, each as the last of the other files has it that holds it, with that file."""
    own = {claim["id"]: {**claim, "file": record.get("file", "claims.json")} for claim in record["claims"]}
    tested = {claim["id"]: {**claim, "file": one.get("file", "")} for one in heavy for claim in one["claims"]}
    return [tested.get(name, claim) for name, claim in own.items()]


def slug(group: str) -> str:
    """Return the name of a group's file.

    >>> slug("Softmax family: order and calibration"), slug("RG×")
    ('softmax-family-order-and-calibration', 'rgx')
    """
    return "-".join(group.lower().replace(":", "").replace("×", "x").split())


def counts(claims: list[Record]) -> str:
    """Return how many claims of each group hold, as a table that links to the detail."""
    shown = [verdict for verdict in VERDICTS if any(claim["verdict"] == verdict for claim in claims)]
    head = f"| about | {' | '.join(f'{MARKS[verdict]} {verdict}' for verdict in shown)} |"
    rows = [head, "|---|" + "---:|" * len(shown)]
    for group in dict.fromkeys(claim["group"] for claim in claims):
        found = Counter(claim["verdict"] for claim in _of(claims, group))
        cells = " | ".join(str(found[verdict] or "") for verdict in shown)
        rows.append(f"| [{group}]({FOLDER}/{slug(group)}.md) | {cells} |")
    every = Counter(claim["verdict"] for claim in claims)
    rows.append(f"| all {len(claims)} | {' | '.join(str(every[verdict]) for verdict in shown)} |")
    return "\n".join([*rows, ""])


def _of(claims: list[Record], group: str) -> list[Record]:
    return [claim for claim in claims if claim["group"] == group]


def _summary(claims: list[Record]) -> str:
    found = Counter(claim["verdict"] for claim in claims)
    summary = ", ".join(f"{found[verdict]} {verdict} ({MARKS[verdict]})" for verdict in VERDICTS if found[verdict])
    parts = [f"Of {len(claims)} claims: {summary}."]
    for verdict in FIRST:
        rows = [(_link(claim), _cell(claim)) for claim in claims if claim["verdict"] == verdict]
        if rows:
            title = f"{MARKS[verdict]} {verdict.capitalize()}"
            parts += [
                f"## {title}",
                Table(("claim", "says"), rows, "The claims").markdown().removeprefix("The claims:\n\n"),
            ]
    return "\n\n".join([*parts, ""])


def _link(claim: Record) -> str:
    return f"[{claim['id']}]({FOLDER}/{slug(claim['group'])}.md#{claim['id']})"


def _cell(claim: Record) -> str:
    return str(claim["statement"]).replace("|", r"\|")


def _section(claim: Record) -> str:
    word = "Not tested" if claim["verdict"] == UNTESTED else "Measured"
    lines = [
        f"## {claim['id']}",
        "",
        f"**{MARKS[claim['verdict']]} {claim['verdict']}** – {_cell(claim)} ({claim['source']})",
        "",
        f"*{word}:* {claim['reason'].replace('|', chr(92) + '|')}.",
    ]
    if claim["correction"] and claim["verdict"] in (CORRECTED, FAILS):
        lines += ["", f"*Instead:* {claim['correction']}"]
    lines += ["", '<details class="more"><summary>How, and what would change it</summary>', ""]
    lines += [claim["method"], "", _change(claim), "", "</details>"]
    if has_figure(claim):
        lines += ["", f"![{claim['figure']['title']}]({claim['id']}.svg)"]
    if claim["numbers"]:
        shown = "\n".join(f"{name}: {_compact(value)}" for name, value in claim["numbers"].items())
        timed = ", seconds of this run among them" if claim["timed"] else ""
        record = f"[{claim['file']}](../../research/records/claims/{claim['file']}), [records](../records.md)"
        lines += ["", f"<details><summary>Numbers{timed}</summary>", "", "```text", shown, "```", "", "</details>"]
        lines += ["", f"*Record:* {record}"]
    return "\n".join([*lines, ""])


def _change(claim: Record) -> str:
    if claim["change"]:
        return f"The verdict changes with {claim['change']}."
    reason = "its numbers are seconds" if claim["timed"] else "it rests on hours of training"
    return f"No change of it is tested, as {reason}; its rule is, on made-up numbers."


def _compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False).replace('"', "")
