"""Which objectives a solver takes: the form of an objective decides, so the objective declares it (`solvers`)."""

from __future__ import annotations

from typing import Protocol

from taylorank.errors import ParameterError


class Declared(Protocol):
    """What every solver asks of an objective first."""

    @property
    def solvers(self) -> tuple[str, ...]:
        """Return "spectral", "als" (one matrix for all rows), "row_als" (one for each)."""
        ...


def check_allowed(objective: Declared, solver: str) -> None:
    """Refuse an objective that does not allow `solver`, and name the solvers that it does."""
    if solver not in objective.solvers:
        raise ParameterError(
            f"{solver} does not solve {type(objective).__name__}", f"use {' or '.join(objective.solvers)}"
        )
