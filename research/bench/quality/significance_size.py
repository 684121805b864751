"""How often does a test call equally good models different, and how often does it find one that is better?

The best of m models is chosen on the users that it is then tested on. Values per user are drawn as NDCG@10 looks (many
zeros, users that are easy or hard for every model), with all models equally good, with the first six equally good and
the rest clearly below, and with one truly better. Two tests of the same draws: each model against the best with Holm's
correction for m − 1 tests, and `all_pairs_test`, which allows for the choice.

    python -m research.bench significance-size --json research/records/bench/significance_size.json
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from taylorank.machine import describe_machine
from taylorank.selection.significance import all_pairs_test, holm, sign_flip_test

LEVEL = 0.05
USERS = 300
RESAMPLES = 1999  # enough that p of 16 tests can be below the level after Holm
REPETITIONS = 2000
BETTER = 4.0  # by how many standard errors of the difference of two models
CASES: dict[str, dict[str, Any]] = {
    "6 equal": {"models": 6},
    "17 equal": {"models": 17},
    "17 equal, in 4 families": {"models": 17, "families": 4},
    "6 equal, 11 below": {"models": 17, "below": 11},
    "1 of 6 better": {"models": 6, "better": True},
    "1 of 17 better": {"models": 17, "better": True},
}
Values = NDArray[np.float64]


def run(*, repetitions: int = REPETITIONS, random_state: int = 0, quick: bool = False) -> dict[str, Any]:
    """Measure; `quick` has 20 repetitions."""
    repetitions = 20 if quick else repetitions
    machine = describe_machine()
    rows = [{"case": name, **measured(case, repetitions, random_state)} for name, case in CASES.items()]
    settings = {"level": LEVEL, "users": USERS, "resamples": RESAMPLES, "repetitions": repetitions, "better": BETTER}
    return {
        "benchmark": "significance-size",
        **settings,
        "random_state": random_state,
        "machine": machine,
        "cases": rows,
    }


def measured(case: dict[str, Any], repetitions: int, random_state: int) -> dict[str, Any]:
    """How often an equal model is marked (`false`), and where one is better, which share of the others (`found`)."""
    rng = np.random.default_rng([random_state, case["models"]])
    wrong, right = {"holm": 0, "all_pairs": 0}, {"holm": 0.0, "all_pairs": 0.0}
    for repetition in range(repetitions):
        values = drawn(rng, **case)
        best = int(np.argmax(values.mean(axis=0)))
        truth = np.array([differs(best, other, **case) for other in range(case["models"])])
        for name, p in p_values(values, best, repetition).items():
            marked = p < LEVEL
            wrong[name] += bool((marked & ~truth).any())
            right[name] += float(marked[truth].mean()) if truth.any() else 0.0
    row: dict[str, Any] = {"false": {name: count / repetitions for name, count in wrong.items()}}
    if case.get("better"):
        row["found"] = {name: round(share / repetitions, 4) for name, share in right.items()}
    return row


def drawn(rng: np.random.Generator, *, models: int, families: int = 0, below: int = 0, better: bool = False) -> Values:
    """Values per user, (USERS, models)."""
    users = rng.normal(0.05, 0.3, (USERS, 1))
    noise = rng.normal(0, 0.2, (USERS, models))
    if families:
        noise = 0.4 * noise + 0.9 * rng.normal(0, 0.2, (USERS, families))[:, np.arange(models) % families]
    values = np.clip(users + noise, 0, 1)
    spread = (values[:, 0] - values[:, 1]).std()
    values[:, models - below :] -= 8 * spread / np.sqrt(USERS)
    if better:
        values[:, 0] += BETTER * spread / np.sqrt(USERS)
    return values


def differs(one: int, other: int, *, models: int, families: int = 0, below: int = 0, better: bool = False) -> bool:
    """Are two models truly different?"""
    return ((one >= models - below) != (other >= models - below)) or (better and (one == 0) != (other == 0))


def p_values(values: Values, best: int, random_state: int) -> dict[str, Values]:
    """Adjusted p of every model against the best, by both methods."""
    others = np.arange(values.shape[1]) != best
    by_holm = np.ones(values.shape[1])
    d = values[:, others] - values[:, [best]]
    by_holm[others] = holm(sign_flip_test(d, resamples=RESAMPLES, random_state=random_state))
    _, adjusted = all_pairs_test(values, resamples=RESAMPLES, random_state=random_state)
    return {"holm": by_holm, "all_pairs": adjusted[best]}


def describe(record: dict[str, Any]) -> list[str]:
    """Describe the results in words."""
    lines = [f"{record['repetitions']} repetitions, {record['users']} users, level {100 * record['level']:.0f} %"]
    for row in record["cases"]:
        false = row["false"]
        line = f"{row['case']}: an equal model is marked in {100 * false['holm']:.1f} % by Holm's correction, "
        line += f"{100 * false['all_pairs']:.1f} % by all pairs"
        if "found" in row:
            found = row["found"]
            line += f"; of the worse models {100 * found['holm']:.0f} % and {100 * found['all_pairs']:.0f} % are found"
        lines.append(line)
    return lines
