"""Every option of every command of the command line, with texts that it does not expect."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import io
import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, get_args, get_origin
from unittest import mock

import taylorank as tr
from research.attack import Difference
from taylorank.cli.app import app, main

TEXTS = (
    *("", "x", "-1", "0", "1", "2", "2.5", "nan", "inf", "-inf", "1e400", "1_0", "9" * 20, "9" * 5000, "x" * 300),
    *("true", "[]", "{}", "é", "a,b", "::", "a\0b", "\ud800", "~nosuchuser/x", "nope/x", "model.tr", "log.npz", "-"),
    *("1,2", "0.5", "0.5,0.5", "rg2", "parquet", "x=y", "=", "x.csv", "x.parquet", "x.npz", "x.html", "/dev/null", "."),
)
COMMANDS = {
    "train": "log.npz --factors 3 --out new.tr",
    "recommend": "model.tr --for-user 1",
    "evaluate": "model.tr log.npz --resamples 20",
    "tune": "log.npz --model itemknn --trials 1",
    "compare": "log.npz --models popularity --seeds 1 --trials 0",
    "diagnose": "model.tr log.npz",
    "run": "--users 40 --items 20 --interactions 300 --core 1 --out new",
    "fit": "log.npz --seconds 0.2 --out new.tr",
    "report": "compared.json --out new.html",
    "split": "log.npz --out parts",
    "update": "model.tr log.npz --out new.tr",
    "fold-in": "model.tr log.npz --out new.csv",
    "similar": "model.tr --item 1",
    "explain": "model.tr --user 1 --item 2",
    "export": "model.tr --to parquet --out shop --sample 5",
    "serve": "model.tr --port 0",
    "demo": "--factors 2 --port 0 --no-browser",
    "datasets list": "",
    "datasets get": "thesaurus",
    "datasets stats": "log.npz",
    "completion": "bash",
}
NUMBERS = {int: re.compile(r"[+-]?\d(_?\d)*"), float: re.compile(r"[+-]?(\d(_?\d)*\.?\d*|\.\d+)(e[+-]?\d+)?", re.I)}


def attack(rng: random.Random, folder: Path) -> str:
    """Give one option of one command a text: done, or exit code 2 and one line and every file as it was."""
    kept = _prepared(folder)
    command = rng.choice(tuple(COMMANDS))
    names = [name for name in options_of(command) if name.startswith("--")]
    option, value = rng.choice(names or ["SHELL"]), rng.choice(TEXTS)
    words = [*command.split(), *COMMANDS[command].split()]
    if option in words:  # it is given already: this is another value for it
        place = words.index(option)
        del words[place : place + 2]
    shown = io.StringIO()
    with contextlib.redirect_stderr(shown), contextlib.redirect_stdout(io.StringIO()), _no_server():
        code = _exit_code([*words, f"{option}={value}"] if names else [*words[:-1], value])
    what = f"{command} {option}={value[:20]!r}"
    _judge(what, code, shown.getvalue(), same=_digests(folder) == kept)
    if code == 0 and not means_something(options_of(command)[option], value):
        raise Difference(f"{what} is taken")
    return "result" if code == 0 else "refused"


@functools.cache
def options_of(command: str) -> dict[str, Any]:
    """Return the options of a command, with the type of each."""
    parts = functools.reduce(lambda found, word: found[word], command.split(), app)
    return {name: one.hint for one in parts.assemble_argument_collection() for name in one.names}


def means_something(hint: Any, text: str) -> bool:
    """Whether a text can be a value of the type: a number is written as one, and a choice is one of its choices.

    >>> means_something(int | None, "2.5"), means_something(float, "nan"), means_something(Literal["a"], "b")
    (False, False, False)
    """
    kinds = [kind for kind in get_args(hint) or (hint,) if kind is not type(None)]
    if get_origin(hint) is Literal or (kinds and all(get_origin(kind) is Literal for kind in kinds)):
        choices = get_args(hint) if get_origin(hint) is Literal else [c for kind in kinds for c in get_args(kind)]
        return text.lower().replace("_", "-") in choices
    if not {*kinds} <= {*NUMBERS}:
        return True
    return any(NUMBERS[kind].fullmatch(text) for kind in kinds)


@contextlib.contextmanager
def _no_server() -> Iterator[None]:
    """`serve` and `demo` end where they would begin to answer."""
    with (
        mock.patch("taylorank.serving.listening.run_one"),
        mock.patch("taylorank.serving.listening.Workers", return_value=mock.Mock(run=mock.Mock(return_value=0))),
        mock.patch("taylorank.serving.listening.log_to_stderr"),
    ):
        yield


def _exit_code(words: list[str]) -> Any:
    try:
        main(words)
    except SystemExit as end:
        return end.code or 0
    return 0


def _judge(what: str, code: Any, said: str, *, same: bool) -> None:
    complaints = [line for line in said.splitlines() if "taylorank: warning:" not in line]
    if code not in (0, 2):
        raise Difference(f"{what}: exit code {code}")
    if code == 2 and (len(complaints) != 1 or len(complaints[0]) > 2000):
        raise Difference(f"{what}: {len(complaints)} lines on standard error")
    if code == 2 and not same:
        raise Difference(f"{what}: refused, and files were changed")


@functools.cache
def _originals() -> dict[str, bytes]:
    """Return the files that commands are given."""
    import tempfile

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        data = tr.planted(40, 20, interactions=300, random_state=0)
        data.save_npz(folder / "log.npz")
        tr.IALS(3, iterations=2).fit(data).save(folder / "model.tr")
        tr.compare(data, ["popularity"], trials=0, seeds=[0]).save(folder / "compared.json")
        return {place.name: place.read_bytes() for place in folder.iterdir()}


def _prepared(folder: Path) -> dict[str, str]:
    """Leave the files that commands are given, and no other; return what they hold."""
    for place in folder.iterdir():
        _remove(place)
    for name, content in _originals().items():
        (folder / name).write_bytes(content)
    return _digests(folder)


def _digests(folder: Path) -> dict[str, str]:
    """Return what every file holds, and which folders there are."""
    return {
        str(place.relative_to(folder)): hashlib.sha256(place.read_bytes()).hexdigest() if place.is_file() else "folder"
        for place in folder.rglob("*")
    }


def _remove(place: Path) -> None:
    if place.is_dir() and not place.is_symlink():
        for inner in place.iterdir():
            _remove(inner)
        place.rmdir()
    else:
        place.unlink()
