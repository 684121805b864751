"""Runs claims and gathers what they found into one record."""

from __future__ import annotations

import importlib.util
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import taylorank
from research.claims.claim import UNTESTED, Claim, Judgement, Numbers
from research.claims.registry import CLAIMS, claim_named
from research.output import provenance, write_json
from taylorank.data.shuffle import check_seed
from taylorank.machine import describe_machine

Record = dict[str, Any]


def run_claims(
    ids: Sequence[str] = (),
    *,
    heavy: bool = False,
    seed: int = 0,
    started: Callable[[Claim], object] | None = None,
    finished: Callable[[Record], object] | None = None,
) -> list[Record]:
    """Return the record of every claim named; without names of all, the heavy ones listed but not run.

    With `heavy` and without names the heavy ones are run, and no others.
    """
    check_seed(seed)
    chosen = [claim_named(name) for name in ids] or [one for one in CLAIMS.values() if one.heavy or not heavy]
    records = []
    for claim in chosen:
        if started is not None:
            started(claim)
        records.append(run_claim(claim, seed=seed, with_heavy=heavy or bool(ids)))
        if finished is not None:
            finished(records[-1])
    return records


def run_claim(claim: Claim, *, seed: int = 0, with_heavy: bool = True) -> Record:
    """Return id, source, statement, verdict, reason, numbers and seconds of one claim."""
    obstacle = obstacle_to(claim, with_heavy=with_heavy)
    began = time.perf_counter()
    numbers: Numbers = {} if obstacle else claim.measure(seed)
    seconds = time.perf_counter() - began
    judgement = Judgement(UNTESTED, obstacle) if obstacle else claim.judge(numbers)
    return {
        "id": claim.id,
        "group": claim.group,
        "source": claim.source,
        "statement": claim.statement,
        "method": claim.method,
        "verdict": judgement.verdict,
        "reason": judgement.reason,
        "correction": claim.correction,
        "change": claim.change_in_words,
        "numbers": numbers,
        "figure": None if claim.figure is None or obstacle else _figure(claim),
        "timed": claim.timed,
        "heavy": claim.heavy,
        "seconds": round(seconds, 2),
    }


def obstacle_to(claim: Claim, *, with_heavy: bool) -> str:
    """Return why a claim cannot be tested here and what to do about it; empty where it can."""
    if claim.heavy and not with_heavy:
        return f"rests on real data, so it is tested only on request: python -m research.claims {claim.id}"
    if claim.needs_torch and importlib.util.find_spec("torch") is None:
        return "torch is not installed; pip install 'taylorank[torch]'"
    return ""


def write_claims(path: Path, records: list[Record], *, command: str, seed: int) -> None:
    """Write the file that the page is made from."""
    made = {"version": taylorank.__version__, **provenance(command), "machine": describe_machine()}
    write_json(path, {**made, "seed": seed, "claims": records})


def _figure(claim: Claim) -> Record:
    assert claim.figure is not None
    return {
        "x": claim.figure.x,
        "y": list(claim.figure.y),
        "title": claim.figure.title,
        "log_x": claim.figure.log_x,
        "log_y": claim.figure.log_y,
    }
