"""How a fitted model is written to its file: a student with its teacher, or without."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter
from rich.console import Console

from taylorank.models import Distilled
from taylorank.models.recommender import Recommender

KeepTeacher = Annotated[
    bool,
    Parameter(
        help="Keep the teacher in the file of a student: many times larger, and needed to explain and to fold in "
        "new users well.",
        negative=(),
        show_default=False,
    ),
]
WITHOUT_TEACHER = (
    "saved without its teacher: lists are the same, new users are folded in by their histories alone, which ranks "
    "worse, and nothing is explained; --keep-teacher keeps it"
)


def save_model(model: Recommender, out: Path, console: Console, *, keep_teacher: bool, **how: Any) -> None:
    """Write a model; of a student say what is missing."""
    if not isinstance(model, Distilled):
        model.save(out, **how)
        return
    model.save(out, keep_teacher=keep_teacher, **how)
    if not keep_teacher:
        console.print(f"the student is {WITHOUT_TEACHER}")
