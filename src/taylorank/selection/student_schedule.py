"""How many steps of a student some seconds pay: its rate falls to 0 at the last, so one cut off is half taught."""

from __future__ import annotations

from typing import Any

import numpy as np

from taylorank.data import Interactions
from taylorank.models import Distilled
from taylorank.models.student_cost import seconds_per_step, steps_of
from taylorank.selection.attempt import STEP_USERS
from taylorank.selection.ranges import Choice
from taylorank.selection.study import Study

CAUTION = 1.2
LEAST_STEPS = 0.25  # of a student's own steps; with fewer it is not worth a try
SETTINGS = (3, 2)  # that a search should pay, if each gets LEAST_STEPS
SCHEDULE = ("epochs", "steps", "batch_size")


def student_seconds(student: Distilled, data: Interactions, *, lists: float) -> float:
    """Return the seconds of a fit: the teacher's `lists`, and the steps, some of which are timed."""
    return CAUTION * (lists + steps_of(student, data)[0] * seconds_per_step(student, data))


def affordable_student(
    student: Distilled, data: Interactions, seconds: float, *, lists: float
) -> tuple[float, Distilled | None]:
    """Return the seconds of a fit, and the student that they pay: with fewer steps if need be, None if too few."""
    needed = student_seconds(student, data, lists=lists)
    if needed <= seconds:
        return needed, student
    epochs = _paid_epochs(student, data, seconds, needed=needed, lists=lists)
    if epochs is None:
        return needed, None
    return seconds, changed(student, epochs=epochs, steps=1)


def _paid_epochs(
    student: Distilled, data: Interactions, seconds: float, *, needed: float, lists: float, least: float = LEAST_STEPS
) -> int | None:
    """Return how many epochs are paid, where all steps would take `needed`; None for less than that share of them."""
    steps, batch = steps_of(student, data)
    per_epoch = -(-int(np.count_nonzero(data.by_user.row_lengths)) // batch)
    share = (seconds - CAUTION * lists) / (needed - CAUTION * lists)
    epochs = int(share * steps / per_epoch)
    return epochs if epochs * per_epoch >= least * steps else None


def changed(student: Distilled, **parameters: Any) -> Distilled:
    """Return the same student, unfitted, with other parameters."""
    return Distilled(**{**student.get_params(deep=False), **parameters})


def schedule_of(student: Distilled) -> dict[str, Choice]:
    """Return the student's own epochs and steps as what a search may take."""
    own = {name: getattr(student, name) for name in ("epochs", "steps")}
    return {name: Choice((value,)) for name, value in own.items() if value is not None}


def cut_schedule(study: Study) -> None:
    """Let a search for a student make as many steps as its seconds pay, and say so; trials in the file have settled it.

    Some settings and the last fit should be paid; where they would have too few steps each, one setting is, however
    few steps that leaves. The number of epochs is a part of every setting then.
    """
    if study.budget.seconds is None or not isinstance(study.base, Distilled) or set(SCHEDULE) & set(study.space):
        return
    known = {trial.params.get("epochs") for trial in study.from_file.values()}
    epochs = max(known, key=lambda one: one or np.inf) if known else _epochs_for(study, study.base)
    if epochs is None:
        return
    student = changed(study.base, epochs=epochs, steps=1)
    steps, paid = (steps_of(one, study.train)[0] for one in (study.base, student))
    study.unfinished.append(f"the seconds pay {paid:,} of the student's {steps:,} steps")
    study.space = {**study.space, **schedule_of(student)}


def _epochs_for(study: Study, student: Distilled) -> int | None:
    """Return how many epochs the seconds pay; None if it is all of them."""
    began = study.now
    each_has_its_own = study.begun is student  # teacher
    taught = student.prepared(study.train) if each_has_its_own else study.begun
    teaching = study.now - began if each_has_its_own else 0.0
    some = study.judge.on_sample(STEP_USERS, random_state=study.random_state)
    began = study.now
    some.value(taught.teacher)
    lists = teaching + (study.now - began) * study.train.n_users / max(some.users, 1)
    needed, left = student_seconds(taught, study.train, lists=lists), study.budget.left - study.larger * study.sharing
    for settings in SETTINGS:
        each = left / (settings + study.larger)
        if needed <= each:
            return None
        epochs = _paid_epochs(taught, study.train, each, needed=needed, lists=lists)
        if epochs is not None:
            return epochs
    each = left / (1 + study.larger)
    if needed <= each:
        return None
    return max(1, _paid_epochs(taught, study.train, each, needed=needed, lists=lists, least=-np.inf) or 0)
