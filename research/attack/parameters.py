"""Wrong types and extreme values for every parameter of every model and every option of the commands."""

from __future__ import annotations

import contextlib
import inspect
import io
import os
import random
from pathlib import Path
from typing import Any

import numpy as np

import taylorank as tr
from research.attack import Difference
from taylorank.cli.app import app, main
from taylorank.registry import MODELS

VALUES: tuple[Any, ...] = (
    *(None, True, False, -1, 0, 1, 2.5, float("nan"), float("inf"), -float("inf"), 1e308, 5e-324, 10**30, 10**400),
    *("x", "", "auto", b"x", (), [], {}, [1, 2], {"a": 1}, object(), 1j),
    *(np.float32("nan"), np.int64(3), np.zeros(2)),
)
TEXTS = (
    *("", "x", "-1", "0", "1", "2.5", "nan", "inf", "-inf", "1e400", "9" * 20, "9" * 5000),
    *("true", "[]", "{}", "é", "a,b", "::"),
)
SMALL = {"factors": 3, "iterations": 2, "epochs": 1, "neighbours": 5, "tolerance": 1e-2}
COMMANDS = {
    "train": ("log.npz", "--factors", "3", "--out", "new.tr"),
    "recommend": ("model.tr", "--for-user", "1"),
    "evaluate": ("model.tr", "log.npz", "--resamples", "20"),
    "tune": ("log.npz", "--model", "itemknn", "--trials", "1"),
    "compare": ("log.npz", "--models", "popularity", "--seeds", "1", "--trials", "0"),
    "diagnose": ("model.tr", "log.npz"),
    "run": ("--users", "40", "--items", "20", "--interactions", "300", "--core", "1", "--out", "new"),
}


def attack(seed: int, folder: Path) -> str:
    """Try one value of one parameter, of a model or of a command."""
    rng = random.Random(seed)
    return _model(rng) if rng.random() < 0.6 else _command(rng, folder)


def _model(rng: random.Random) -> str:
    data = tr.planted(30, 20, interactions=200, random_state=0)
    name = rng.choice(tuple(MODELS))
    known = inspect.signature(MODELS[name]).parameters
    if not known:
        return "result"
    chosen, value = rng.choice(tuple(known)), rng.choice(VALUES)
    if chosen == "compile" and value is True:  # it takes a minute
        return "result"
    given = {key: small for key, small in SMALL.items() if key in known}
    if name == "ease" and rng.random() < 0.5:
        del given["neighbours"]  # all items
    model = MODELS[name](**{**given, chosen: value}).fit(data)
    ids, scores = model.recommend(data.user_ids[:5], n=4)
    if ids.shape != (5, 4) or not np.isfinite(scores[ids >= 0]).all():
        raise Difference(f"{name}({chosen}={value!r}) gives scores that are no numbers")
    return "result"


def _command(rng: random.Random, folder: Path) -> str:
    _prepare(folder)
    command = rng.choice(tuple(COMMANDS))
    options = sorted({name for one in app[command].assemble_argument_collection() for name in one.names})
    option, value = rng.choice([name for name in options if name.startswith("--")]), rng.choice(TEXTS)
    before, said = sorted(os.listdir(folder)), io.StringIO()
    with contextlib.redirect_stderr(said), contextlib.redirect_stdout(io.StringIO()):
        code = _exit_code([command, *COMMANDS[command], f"{option}={value}"])
    _judge(f"{command} {option}={value[:20]}", code, said.getvalue(), sorted(os.listdir(folder)) == before)
    return "result" if code == 0 else "refused"


def _exit_code(words: list[str]) -> Any:
    try:
        main(words)
    except SystemExit as end:
        return end.code or 0
    return 0


def _judge(what: str, code: Any, said: str, nothing_new: bool) -> None:
    complaints = [line for line in said.splitlines() if "taylorank: warning:" not in line]
    if code not in (0, 2):
        raise Difference(f"{what}: exit code {code}")
    if code == 2 and (len(complaints) != 1 or len(complaints[0]) > 2000):
        raise Difference(f"{what}: {len(complaints)} lines on standard error")
    if code == 2 and not nothing_new:
        raise Difference(f"{what}: refused, and files were left")


def _prepare(folder: Path) -> None:
    """Leave the two files that commands are given, and no other."""
    for place in folder.iterdir():
        if place.name not in ("log.npz", "model.tr"):
            _remove(place)
    if not (folder / "model.tr").exists():
        data = tr.planted(40, 20, interactions=300, random_state=0)
        data.save_npz(folder / "log.npz")
        tr.Popularity().fit(data).save(folder / "model.tr")


def _remove(place: Path) -> None:
    if place.is_dir() and not place.is_symlink():
        for inner in place.iterdir():
            _remove(inner)
        place.rmdir()
    else:
        place.unlink()
