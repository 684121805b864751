"""What a student's fit takes on this machine, from a few steps on made-up lists."""

from __future__ import annotations

import time

import numpy as np

from taylorank.data import CSR, Interactions
from taylorank.models.distilled import Distilled
from taylorank.models.student_plan import Plan, settled_steps

PROBE_STEPS = 2  # timed, after one that is not
FEWEST_ROWS = 16


def steps_of(student: Distilled, data: Interactions) -> tuple[int, int]:
    """Return (steps, users in a batch) of the student's fit to `data`."""
    users = int(np.count_nonzero(data.by_user.row_lengths))
    batch, epochs = settled_steps(
        users,
        data.n_items,
        factors=student.factors,
        batch_size=student.batch_size,
        epochs=student.epochs,
        steps=student.steps,
    )
    return epochs * -(-users // batch), batch


def seconds_per_step(student: Distilled, data: Interactions) -> float:
    """Return the seconds of one step with the student's own batches, timed on random vectors and short lists.

    >>> from taylorank.data import planted
    >>> seconds_per_step(Distilled(factors=4), planted(100, 50, interactions=1500)) > 0
    True
    """
    batch = max(FEWEST_ROWS, steps_of(student, data)[1])
    rng = np.random.default_rng(0)
    users, items = (_unit(rng, rows, student.factors) for rows in (batch, data.n_items))
    descent = student.descent(_plan(batch, data.n_items), (users, items))
    seconds = []
    for _ in range(1 + PROBE_STEPS):
        began = time.perf_counter()
        float(descent.learn(np.arange(batch)))  # waits for a device
        seconds.append(time.perf_counter() - began)
    return float(np.mean(seconds[1:]))


def _plan(batch: int, items: int) -> Plan:
    """A plan whose every user lists one item."""
    ends = np.arange(batch + 1, dtype=np.int64)
    listed = (np.arange(batch) % items).astype(np.int32)
    ones = np.ones(batch, dtype=np.float32)
    return Plan(
        CSR(ends, listed, ones, items),
        ones,
        temperature=0.1,
        bias=True,
        learning_rate=0.01,
        batch=batch,
        epochs=1 + PROBE_STEPS,
        random_state=0,
    )


def _unit(rng: np.random.Generator, rows: int, factors: int) -> np.ndarray[tuple[int, int], np.dtype[np.float32]]:
    vectors = rng.standard_normal((rows, factors)).astype(np.float32)
    unit: np.ndarray[tuple[int, int], np.dtype[np.float32]] = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return unit
