"""New users of a student: milliseconds each, one at a time and many together, and agreement with trained users.

Gowalla's published training part, RG² at rank 1,024 as the teacher, a student of 64. Users of the training data are
folded in as if they were new: the teacher's product gives their lists, Newton steps their vectors. What is made once
per model is made before the clock runs, and its seconds are given apart. Agreement: the share
of the 20 best items (training items left out) that the trained and the folded-in user have in common, and NDCG@20 of
both on the test part, which chooses nothing here. Beside these: the seconds of teacher and student, and how both rank
for all users of the test part.

    python -m research.bench student-fold-in --json research/records/bench/student_fold_in.json
"""

from __future__ import annotations

import statistics
import time
from typing import Any

import numpy as np

from taylorank.data import Interactions, datasets, planted, share_ids
from taylorank.kernels import threads
from taylorank.machine import describe_machine
from taylorank.models import RG2, Distilled
from taylorank.models.recommender import Recommender
from taylorank.ranking import evaluate

Row = dict[str, Any]
TOGETHER = 512
ALONE = 300
WARM = 20  # calls before the clock runs
TARGET_MS = 5.0
TARGETS_S = {"teacher": 22.0, "student": 120.0}  # on two cores
METRICS = ("recall@20", "ndcg@20")


def run(*, quick: bool = False) -> Row:
    """Measure; `quick` uses planted data and a small student."""
    machine = describe_machine()
    train, test = _data(quick)
    began = time.perf_counter()
    teacher = RG2(16 if quick else 1024, proposal_exponent=0.8, context_exponent=1.2, device="cpu").fit(train)
    taught = time.perf_counter()
    options: Row = {"steps": 20, "top": 50} if quick else {"top": 500, "sharpness": 1.6, "temperature": 0.07}
    student = Distilled(teacher, 8 if quick else 64, device="cpu", **options).fit(train)
    ended = time.perf_counter()
    chosen = np.sort(np.random.default_rng(0).choice(train.n_users, min(TOGETHER, train.n_users // 2), replace=False))
    return {
        "benchmark": "student-fold-in",
        "machine": machine,
        "data": [train.n_users, train.n_items, train.nnz],
        "teacher": {"factors": teacher.factors, "fit_s": round(taught - began, 1), **_tested(teacher, test)},
        "student": {
            "factors": student.factors,
            **options,
            "fit_s": round(ended - taught, 1),
            **_tested(student, test),
        },
        "together": _together(student, train, chosen),
        "alone": _alone(student, train, chosen[:ALONE]),
        "agreement": _agreement(student, train, test, chosen),
    }


def _tested(model: Recommender, test: Interactions) -> Row:
    found = evaluate(model, test, metrics=METRICS)
    return {metric: round(float(found[metric]), 4) for metric in METRICS}


def _data(quick: bool) -> tuple[Interactions, Interactions]:
    if quick:
        train, test = planted(200, 90, interactions=4000).split((0.8, 0.2))
    else:
        train, test = share_ids(*datasets.published_split("gowalla"))
    return train, test


def histories(train: Interactions, users: Any) -> Interactions:
    """Return the histories of some users, over all items."""
    rows = [train.by_user.indices[train.by_user.indptr[x] : train.by_user.indptr[x + 1]] for x in users]
    names = np.repeat(train.users.values[users], [len(row) for row in rows])
    return Interactions.from_arrays(names, train.items.values[np.concatenate(rows)])


def _together(student: Distilled, train: Interactions, users: Any) -> Row:
    given = histories(train, users)
    student.fold_in(given)  # what is computed once per model
    spent = []
    for _ in range(3):
        began = time.perf_counter()
        student.fold_in(given)
        spent.append(1000 * (time.perf_counter() - began) / len(users))
    return {"users": len(users), "ms_a_user": round(statistics.median(spent), 3)}


def _alone(student: Distilled, train: Interactions, users: Any) -> Row:
    """Users in a random order, each by itself: on all threads, and on one."""
    given = [histories(train, [user]) for user in np.random.default_rng(1).permutation(users)]
    began = time.perf_counter()
    student.fold_in(given[0])
    found: Row = {"users": len(users), "first_s": round(time.perf_counter() - began, 3)}
    for name, count in (("all_threads", None), ("one_thread", 1)):
        spent = []
        with threads(count):
            for one in [*given[:WARM], *given]:
                began = time.perf_counter()
                student.fold_in(one)
                spent.append(1000 * (time.perf_counter() - began))
        counted = np.array(spent[min(WARM, len(given)) :])
        middle, late, most = np.quantile(counted, (0.5, 0.95, 1))
        found[name] = {"median_ms": round(middle, 2), "p95_ms": round(late, 2), "most_ms": round(most, 2)}
    return found


def _agreement(student: Distilled, train: Interactions, test: Interactions, users: Any) -> Row:
    folded = student.fold_in(histories(train, users))
    ids = train.users.values[users]
    own, other = student.recommend(ids, n=20)[0], folded.recommend(ids, n=20)[0]
    shared = [len(np.intersect1d(mine, theirs)) / 20 for mine, theirs in zip(own, other, strict=True)]
    kept = np.isin(test.by_user.row_of_entry(), users)
    held = test.select(kept, "these users")
    values = [round(float(evaluate(model, held, metrics="ndcg@20")["ndcg@20"]), 4) for model in (student, folded)]
    return {
        "common_items": round(float(np.mean(shared)), 4),
        "ndcg@20": dict(zip(("trained", "folded in"), values, strict=True)),
    }


def _fit(who: str, row: Row) -> str:
    tested = ", ".join(f"{metric.replace('ndcg', 'NDCG')} {row[metric]:.4f}" for metric in METRICS)
    return (
        f"{who} of {row['factors']:,} numbers: fitted in {row['fit_s']:.1f} s (target {TARGETS_S[who]:g}); all users "
        f"of the test part: {tested}"
    )


def describe(record: Row) -> list[str]:
    """Describe time and agreement."""
    together, alone, agreement = record["together"], record["alone"], record["agreement"]
    values = agreement["ndcg@20"]
    return [
        *(_fit(who, record[who]) for who in TARGETS_S),
        f"{together['users']} users together: {together['ms_a_user']:.2f} ms a user",
        *(
            f"one at a time, {name.replace('_', ' ')}: median {alone[name]['median_ms']:.2f} ms, 95 % within "
            f"{alone[name]['p95_ms']:.2f} ms (target {TARGET_MS:g})"
            for name in ("all_threads", "one_thread")
        ),
        f"the first one, with what is made once per model: {alone['first_s']:.2f} s",
        f"{agreement['common_items']:.1%} of the 20 best items are those of the trained users; NDCG@20 "
        f"{values['folded in']:.4f}, trained {values['trained']:.4f}",
    ]
