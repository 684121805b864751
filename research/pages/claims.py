"""The claims with their verdicts, in docs/claims.md, from what `python -m research.claims --json` wrote.

records/claims/claims.json has every claim; the other files of that folder have claims on real data that were tested.
Figures are drawn beside the page where altair is installed (pip install 'taylorank[report]').
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from typing import Any

from research.claims.claim import CORRECTED, FAILS, HOLDS, UNDECIDED, UNTESTED, VERDICTS
from research.pages.claim_figures import FOLDER, draw_claims, has_figure
from research.papers import references
from research.places import Places

Record = dict[str, Any]

MARKS = {HOLDS: "✓", CORRECTED: "≈", FAILS: "✗", UNDECIDED: "?", UNTESTED: "–"}
HEAD = """# Claims

What the papers behind this library say, put to the test. Every verdict is computed from the numbers below it by a small
function. A test changes the setting of each experiment so that its verdict must change; where that would need a clock
or hours of training, the function is tested on made-up numbers instead, and no change is named. A claim *holds with a
correction* if it is false as printed and true in the form given under *Instead*; where it fails, *Instead* says what
was seen; it is *not decided* where what was measured is within its own noise. The last of these commands makes this
page from the files that the others wrote; claims on real data are tested only on request, and until then stand as not
testable here:

{commands}

The documents:

{references}

In a few words: a *context* x (a user) has interacted with some *items* y; I_x is how many, N the number of all items,
r_xy is 1 for a pair that interacted. A model gives *scores* o_xy = P_x · Q_y, of *rank* K. *Softmax loss* makes these
items likely among all. *RG²* is its second-order expansion at zero scores, a sum of squares; *RG×* keeps one more term.
*ALS* solves for P and Q alternately, a *sweep* being one solution of each. *DCG* and *NDCG* measure a ranking, with
more weight on higher ranks; *regret* is what a ranking loses against the best possible one. A loss is *consistent* with
DCG if its best scores rank best. A *proposal* q is the distribution that negatives are drawn from.

How sure they are: identities, counterexamples and exact expectations do not depend on the seed. Their verdicts, and all
others that need neither training by gradients nor a clock nor real data, are the same for the seeds 0 to 4, which
`python -m research.claims --seeds 5` tests. Claims that train models or take times are another matter. They run on
small planted data or rest on a few comparisons on real data, and the rules that decide {pilot} were settled after
looking at pilot runs or at the records: read those verdicts as what was seen here, not as a test that was fixed
beforehand.

{summary}
"""
# Their thresholds or the number of data sets were changed after a look at pilot runs.
PILOT = (
    "sparsemax-needs-fewer-epochs",
    "calibrated-loss-calibrated-probabilities",
    "softmax-bears-larger-rates",
    "nce-plateaus",
    "warm-start-from-softmax",
    "cost-of-a-sweep",
    "rgx-closer-to-softmax",
    "als-linear",
    "nce-plateaus-on-ml-1m",
    "warm-start-from-softmax-on-real-data",
    "finding-1-on-ml-1m",
    "finding-2-on-ml-1m",
    "finding-3-on-ml-1m",
    "gains-in-every-regime",
    "rg-under-first-order-steps",
    "sgd-sublinear",
    "small-penalty-explodes-scores",
)


def made(name: str, places: Places) -> str:
    """Return the page."""
    first, *others = _records(places)
    return page(first, others, name=name)


def draw(places: Places) -> None:
    """Draw the figures of the page."""
    first, *others = _records(places)
    draw_claims(merged(first, others), places.docs / FOLDER)


def _records(places: Places) -> list[Record]:
    """Return all claims, then the files with claims on real data."""
    first = places.records / "claims" / "claims.json"
    others = sorted(path for path in first.parent.glob("*.json") if path != first)
    return [json.loads(path.read_text(encoding="utf-8")) for path in (first, *others)]


def page(record: Record, heavy: Sequence[Record] = (), *, name: str = "claims") -> str:
    """Return the page; `heavy` are files with claims on real data, which take the place of those untested."""
    claims = merged(record, heavy)
    commands = [record["command"], *(one["command"] for one in heavy), f"python -m research.pages {name}"]
    head = HEAD.format(
        commands="\n".join(f"    {line}" for line in commands),
        references=references(),
        summary=_summary(claims),
        pilot=", ".join(PILOT),
    )
    groups = list(dict.fromkeys(claim["group"] for claim in claims))
    sections = [f"## {group}\n\n" + "\n".join(map(_section, _of(claims, group))) for group in groups]
    return head + "\n" + "\n".join(sections)


def merged(record: Record, heavy: Sequence[Record]) -> list[Record]:
    """Return the claims of a record, each as the last of the other files has it that holds it."""
    tested = {claim["id"]: claim for one in heavy for claim in one["claims"]}
    return [tested.get(claim["id"], claim) for claim in record["claims"]]


def _of(claims: list[Record], group: str) -> list[Record]:
    return [claim for claim in claims if claim["group"] == group]


def _summary(claims: list[Record]) -> str:
    counts = Counter(claim["verdict"] for claim in claims)
    summary = ", ".join(f"{counts[verdict]} {verdict} ({MARKS[verdict]})" for verdict in VERDICTS if counts[verdict])
    rows = [f"| {MARKS[claim['verdict']]} | [{claim['id']}](#{claim['id']}) | {_cell(claim)} |" for claim in claims]
    table = "\n".join(["| | claim | says |", "|---|---|---|", *rows])
    return f"Of {len(claims)} claims: {summary}.\n\n{table}\n"


def _cell(claim: Record) -> str:
    return str(claim["statement"]).replace("|", r"\|")


def _section(claim: Record) -> str:
    word = "Not tested" if claim["verdict"] == UNTESTED else "Measured"
    lines = [
        f"### {claim['id']}",
        "",
        f"**{claim['verdict']}** – {_cell(claim)} ({claim['source']})",
        "",
        f"*{word}:* {claim['reason'].replace('|', chr(92) + '|')}.",
    ]
    if claim["correction"] and claim["verdict"] in (CORRECTED, FAILS):
        lines += ["", f"*Instead:* {claim['correction']}"]
    lines += ["", f"*How:* {claim['method']} {_change(claim)}"]
    if has_figure(claim):
        lines += ["", f"![{claim['figure']['title']}]({FOLDER}/{claim['id']}.svg)"]
    if claim["numbers"]:
        shown = "\n".join(f"{name}: {_compact(value)}" for name, value in claim["numbers"].items())
        timed = ", seconds of this run among them" if claim["timed"] else ""
        lines += ["", f"<details><summary>Numbers{timed}</summary>", "", "```", shown, "```", "", "</details>"]
    return "\n".join([*lines, ""])


def _change(claim: Record) -> str:
    if claim["change"]:
        return f"The verdict changes with {claim['change']}."
    reason = "its numbers are seconds" if claim["timed"] else "it rests on hours of training"
    return f"No change of it is tested, as {reason}; its rule is, on made-up numbers."


def _compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False).replace('"', "")
