"""What might be tried beside a thresholded RG²: does it help? On validation data of several sets.

Each set is the training part of `fit-best`, a tenth of each user's interactions held back. Every idea has a few
settings, the base among them (so that choosing costs it nothing); half of the judged users choose one by NDCG@10, the
other half show it. The base is RG² at one rank with its default exponents and a threshold τ/σ₁ from the same list.

    power       (σ/σ₁)^β in the place of the threshold
    both        (σ − τ)₊ (σ/σ₁)^(β−1)
    residual    + w times R̃R̃ᵀR̃ of the full rank, R̃ = D_x^−½ R D_y^−½; both parts over their standard deviation
    newton      targets expanded anew at the model's scores: o + η (r/I − p)/q, p ∝ q e^o, fitted at the same rank;
                ranked by q e^o; one and two steps
    half life   strengths that fade, by shares of the time that the data spans, or by places
    student     a student of 64 of the base (three seeds)
    loo student its teacher's score of a seen item comes from the user's other items (three seeds)

    python -m research.bench beside --json research/records/bench/beside.json
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from research.bench.quality.beside_models import (
    STUDENT_SEEDS,
    Judged,
    faded_bases,
    newton_steps,
    powers,
    residuals,
    students,
    thresholds,
)
from research.bench.quality.defaults import sampled
from research.bench.quality.fit_best import parts_of
from research.output import provenance, write_json
from taylorank.data import Interactions
from taylorank.errors import DataError, in_one_line
from taylorank.machine import describe_machine
from taylorank.models import RG2
from taylorank.ranking import evaluate
from taylorank.selection import hold_back

SETS = ("ml-100k", "movietweetings", "wikispeedia-links", "online-retail", "amazon-sports-s3rec")
USERS = 2000  # judged, half to choose and half to show
RANK = 128
HELPS = 0.01  # a mean gain of this share is called help
Row = dict[str, Any]
Settings = Iterator[tuple[str, Any]]  # (in words, a model with a ranker)


def run(
    *,
    sets: str = ",".join(SETS),
    ideas: str = "power,both,residual,newton,half life,student,loo student",
    rank: int = RANK,
    quick: bool = False,
    file: Path | None = None,
    command: str = "",
    log_line: Callable[[str], object] = print,
) -> Row:
    """Measure every idea that the file lacks.

    Parameters
    ----------
    sets
        Names of data sets, with commas between.
    ideas
        What is tried, with commas between.
    rank
        Of every model but the students.
    quick
        Planted data alone: does it run at all?
    """
    record: Row = {"benchmark": "beside", "rank": rank, "machine": describe_machine(), "sets": {}}
    if file is not None and file.exists():
        record["sets"] = json.loads(file.read_text(encoding="utf-8"))["sets"]
    for name in ["planted"] if quick else sets.split(","):
        rows = record["sets"].setdefault(name, {})
        try:
            judged = judged_on(parts_of(name)[0], 8 if quick else rank)
        except DataError as error:
            log_line(f"{name}: left out, {in_one_line(error)}")
            continue
        for idea in ["base", *ideas.split(",")]:
            if idea not in rows:
                rows[idea] = measured(judged, idea, rows.get("base"))
                log_line(f"{name}, {idea}: {rows[idea]}")
                if file is not None:
                    write_json(file, {**provenance(command), **record})
    return record


def judged_on(data: Interactions, rank: int) -> Judged:
    """Hold back, fit the base, and draw the users who choose and those who show."""
    held = hold_back(data)
    users = sampled(held.valid, USERS)
    chooses = np.arange(users.n_users) % 2 == 0
    halves = tuple(users.select(np.repeat(half, users.by_user.row_lengths), "half") for half in (chooses, ~chooses))
    base = RG2(min(rank, *held.train.matrix.shape), tolerance=1e-4).fit(held.train)
    return Judged(held.train, halves[0], halves[1], base)


IDEAS: dict[str, Callable[[Judged], Settings]] = {
    "base": thresholds,
    "power": lambda judged: powers(judged, thresholded=False),
    "both": lambda judged: powers(judged, thresholded=True),
    "residual": residuals,
    "newton": newton_steps,
    "half life": faded_bases,
    "student": lambda judged: students(judged, leaves_out=False),
    "loo student": lambda judged: students(judged, leaves_out=True),
}


def measured(judged: Judged, idea: str, base: Row | None) -> Row:
    """Return the setting that the one half of users chose, and its value for the other half."""
    if base is not None:
        judged.share = float(base["setting"].removeprefix("τ/σ₁ "))
    tried: list[tuple[str, float, float]] = []
    try:
        for words, model in IDEAS[idea](judged):
            values = [evaluate(model, half, metrics="ndcg@10")["ndcg@10"] for half in (judged.choose, judged.show)]
            tried.append((words, values[0], values[1]))
    except DataError as error:
        return {"note": in_one_line(error)}
    if "student" in idea:  # nothing is chosen: the mean over the seeds
        shown = [value for _, _, value in tried]
        spread = round(float(np.std(shown)), 5)
        return {"setting": f"{STUDENT_SEEDS} seeds", "ndcg@10": round(float(np.mean(shown)), 5), "spread": spread}
    words, _, shown_value = max(tried, key=lambda one: one[1])
    if base is not None and max(value for _, value, _ in tried) <= base["chosen by"]:
        return {"setting": "the base", "ndcg@10": base["ndcg@10"]}
    chosen_by = max(value for _, value, _ in tried)
    return {"setting": words, "ndcg@10": round(shown_value, 5), "chosen by": round(chosen_by, 5)}


def describe(record: Row) -> list[str]:
    """Describe each idea in a line: its gain over the base by set, and a verdict."""
    lines = [
        "NDCG@10 of the base: "
        + ", ".join(f"{name} {rows['base']['ndcg@10']:.4f}" for name, rows in record["sets"].items() if "base" in rows)
    ]
    for idea in list(IDEAS)[1:]:
        gains = {
            name: rows[idea]["ndcg@10"] / rows["base"]["ndcg@10"] - 1
            for name, rows in record["sets"].items()
            if "ndcg@10" in rows.get(idea, {})
        }
        if gains:
            each = ", ".join(
                f"{name} {100 * gain:+.1f} % ({_setting(record, name, idea)})" for name, gain in gains.items()
            )
            lines.append(f"{idea}: {verdict(list(gains.values()))}; {each}")
    return lines


def verdict(gains: list[float]) -> str:
    """Say whether an idea helps: by 1 % on average, and on most sets.

    >>> verdict([0.02, 0.03, -0.001]), verdict([-0.02, 0.0, -0.1]), verdict([0.05, -0.03])
    ('helps', 'does not help', 'helps on some')
    """
    mean, ahead = float(np.mean(gains)), sum(gain > 0 for gain in gains)
    if mean >= HELPS and ahead > len(gains) / 2:
        return "helps"
    return "helps on some" if max(gains) >= HELPS else "does not help"


def _setting(record: Row, name: str, idea: str) -> str:
    return str(record["sets"][name][idea]["setting"])
