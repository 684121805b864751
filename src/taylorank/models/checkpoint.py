"""A fit in progress, kept in one file: what a solver needs to resume and end with the same bits."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taylorank.checks import check_whole
from taylorank.data import Interactions
from taylorank.data.arrays import DamagedError, load_arrays, save_arrays
from taylorank.errors import DataError, TrainingWarning, warn_caller
from taylorank.models.json_values import plain_value
from taylorank.models.parameters import OF_THE_MACHINE
from taylorank.models.training_record import TrainingRecord
from taylorank.output import check_place, path_of
from taylorank.solvers.svd import SvdState
from taylorank.solvers.sweeps import SweepState

State = SweepState | SvdState
FORMAT = 3  # 2: without checksum
SECONDS_BETWEEN = 10.0


@dataclass(frozen=True, eq=False)
class BestStep:
    """The step of a fit that did best on validation data, and the arrays that restore it."""

    step: int
    metric: float
    arrays: dict[str, NDArray[Any]]


@dataclass(eq=False)
class Checkpoint:
    """Keeps the latest state in memory, writes it every few seconds and, when a fit is interrupted, at once.

    As a context manager around a fit it removes the file when the fit succeeds.
    """

    path: Path
    identity: dict[str, Any]
    state: State | None = None
    history: list[dict[str, float]] = field(default_factory=list)
    best: BestStep | None = None
    written: float = field(default_factory=time.monotonic)
    has_warned: bool = False
    went_on: bool = True  # from what was read, if anything was

    @classmethod
    def open(cls, path: Path, identity: dict[str, Any]) -> Checkpoint:
        """Read what an interrupted fit left, or start from the beginning; the file of another fit is refused."""
        identity = json.loads(json.dumps(identity, default=plain_value))
        check_place(path)
        if not path.exists():
            return cls(path, identity)
        if not _is_one(path):
            raise DataError(f"{path} is not a checkpoint", "give another file; this one would be overwritten")
        try:
            arrays, is_checked = load_arrays(path)
            manifest = json.loads(str(arrays.pop("manifest")))
            found = dict(manifest["identity"])
            if not is_checked and found.get("format") == FORMAT:
                raise ValueError("its checksum is missing")
            unpacked = _unpacked(arrays, manifest)
        except (OSError, DamagedError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise DataError(f"{path} is a damaged checkpoint", "delete it to start again") from error
        if found != identity:
            differs = [name for name in identity if found.get(name) != identity[name]] or ["version"]
            raise DataError(
                f"{path} belongs to another fit ({', '.join(differs)} differs)", "delete it, or give another file"
            )
        return cls(path, identity, *unpacked, went_on=False)

    def keep(self, state: State, history: list[dict[str, float]], best: BestStep | None) -> None:
        """Remember the latest state; write it if the file is some seconds old."""
        self.state, self.history, self.best, self.went_on = state, list(history), best, True
        if time.monotonic() - self.written >= SECONDS_BETWEEN:
            self.write()

    def write(self) -> None:
        """Write the latest state, atomically."""
        if self.state is None:
            return
        manifest: dict[str, Any] = {"identity": self.identity, "history": self.history}
        arrays: dict[str, Any] = {}
        if isinstance(self.state, SweepState):
            manifest |= {"kind": "sweep", "sweep": self.state.sweep, "last_loss": self.state.last_loss}
            arrays |= {f"state_{name}": value for name, value in self.state.arrays.items()}
        else:
            manifest |= {"kind": "svd", "numbers": self.state.numbers}
            arrays |= {f"state_{name}": value for name, value in self.state.arrays.items()}
        if self.best is not None:
            manifest |= {"best": {"metric": self.best.metric, "step": self.best.step}}
            arrays |= {f"best_{name}": value for name, value in self.best.arrays.items()}
        self.written = time.monotonic()
        try:
            save_arrays(self.path, {"manifest": np.array(json.dumps(manifest)), **arrays})
        except DataError as error:  # the fit is worth more than its checkpoint
            if not self.has_warned:
                warn_caller(f"the fit goes on without checkpoint: {error}", TrainingWarning)
            self.has_warned = True

    def __enter__(self) -> Checkpoint:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: object) -> None:
        if not self.went_on and isinstance(error, ValueError | TypeError | KeyError | IndexError | AttributeError):
            raise DataError(f"{self.path} is a damaged checkpoint", "delete it to start again") from error
        if kind is None:
            self.path.unlink(missing_ok=True)
        elif issubclass(kind, KeyboardInterrupt):
            self.write()


def open_checkpoint(
    path: str | Path, model: Any, data: Interactions, *, valid: Interactions | None, metric: str
) -> Checkpoint:
    """Open the checkpoint of a fit of `model` to `data`; the file of any other fit is refused."""
    parameters = {name: value for name, value in model.settled_params().items() if name not in OF_THE_MACHINE}
    identity = {
        "format": FORMAT,
        "model": type(model).__name__,
        "parameters": parameters,
        "data": TrainingRecord(data).fingerprint,
        "validation": None if valid is None else [TrainingRecord(valid).fingerprint, metric],
    }
    return Checkpoint.open(path_of(path), identity)


def _is_one(path: Path) -> bool:
    """Whether a file begins as checkpoints do: an archive whose first member is the manifest."""
    if not path.is_file():
        return False
    try:
        with path.open("rb") as file:
            head = file.read(64)
    except OSError as error:
        raise DataError(f"cannot read {path}: {error.strerror}", "give another file") from error
    return head.startswith(b"PK") and b"manifest.npy" in head


def _unpacked(
    arrays: dict[str, Any], manifest: dict[str, Any]
) -> tuple[State, list[dict[str, float]], BestStep | None]:
    state: State
    if manifest["kind"] == "sweep":
        state = SweepState(_count(manifest["sweep"]), _named(arrays, "state_"), float(manifest["last_loss"]))
    else:
        state = SvdState(_named(arrays, "state_"), {str(k): float(v) for k, v in manifest["numbers"].items()})
    kept = manifest.get("best")
    best = None if kept is None else BestStep(_count(kept["step"]), float(kept["metric"]), _named(arrays, "best_"))
    history = [{str(name): value for name, value in step.items()} for step in manifest["history"]]
    if any(_count(step["step"]) and not step["seconds"] >= 0 for step in history):
        raise ValueError("a step took no time")
    return state, history, best


def _count(value: Any) -> int:
    """Return a number of steps; anything else would never be reached, or make a fit of another length."""
    return check_whole(value, "step", least=0)


def _named(arrays: dict[str, Any], prefix: str) -> dict[str, Any]:
    return {name.removeprefix(prefix): value for name, value in arrays.items() if name.startswith(prefix)}
