"""Command lines that write files, run in the folder of a case; what they leave, and how they may fail."""

from __future__ import annotations

import contextlib
import io
import json
import os
from pathlib import Path
from typing import Any

import taylorank as tr
from research.attack import Difference
from research.attack.operations import digest, without_clock
from taylorank.cli.app import main
from taylorank.models import checkpoint

COMMANDS = {
    "train": ("train log.npz --model ials --factors 4 --iterations 5 --checkpoint kept --out m.tr", ["m.tr"]),
    "train-path": ("train log.npz --factors 4 --checkpoint kept --out m.tr", ["m.tr"]),
    "tune": (
        "tune log.npz --model ials --trials 2 --file t.jsonl --out m.tr --json t.json",
        ["t.jsonl", "m.tr", "t.json"],
    ),
    "compare": (
        "compare log.npz --models ease,popularity --trials 1 --seeds 1 --metrics ndcg@5 --json c.json --per-user",
        ["c.json", "c.users.npz"],
    ),
    "lists": ("recommend a.tr --all -n 5 --out lists.parquet", ["lists.parquet"]),
    "lists-text": ("recommend a.tr --all -n 5 --out lists.csv", ["lists.csv"]),
    "export": ("export a.tr --to parquet --out shop --overwrite --json shop.json", ["shop", "shop.json"]),
    "evaluate": ("evaluate a.tr log.npz --resamples 20 --json e.json", ["e.json"]),
}


def run_command(name: str) -> tuple[int, str]:
    """Run a command line in the current folder; return its exit code and what it wrote to standard error."""
    said, code = io.StringIO(), 0
    checkpoint.SECONDS_BETWEEN = 0.0
    with contextlib.redirect_stderr(said), contextlib.redirect_stdout(io.StringIO()):
        try:
            main([*COMMANDS[name][0].split(), "--quiet"])
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else 0
    return code, said.getvalue() + _printed_below()


def _printed_below() -> str:
    """Return what libraries wrote to standard error behind Python's back, where that is a file."""
    place = Path("/proc/self/fd/2")
    text = place.read_text(encoding="utf-8", errors="replace") if place.is_file() else ""
    if text:
        os.truncate(place, 0)
    return text


def judged(name: str, code: int, said: str, *, allowed: tuple[int, ...] = (0, 2)) -> None:
    """Raise unless a command ended with one of these codes, and with one line unless it succeeded."""
    complaints = [line for line in said.splitlines() if "taylorank: warning:" not in line]
    if code not in allowed:
        raise Difference(f"{name}: exit code {code}: {' '.join(said[-300:].split())}")
    if len(complaints) != (0 if code == 0 else 1):
        raise Difference(f"{name}: exit code {code} and {len(complaints)} lines: {' '.join(said[-300:].split())}")


def contents(name: str) -> dict[str, Any]:
    """Return what the outputs of a command hold, without what differs from run to run."""
    return {output: _content(Path(output)) for output in COMMANDS[name][1]}


def _content(place: Path) -> Any:
    if not place.exists():
        return None
    if place.suffix == ".json":
        return _plain(json.loads(place.read_text(encoding="utf-8")))
    if place.suffix == ".jsonl":
        lines = place.read_text(encoding="utf-8").split("\n")[:-1]  # the last may be cut off
        return [_plain(json.loads(line)) for line in lines]
    return "there" if place.suffix == ".npz" else digest(place)  # archives hold dates


def _plain(document: Any) -> Any:
    document = without_clock(document)
    if isinstance(document, dict):
        document = {key: value for key, value in document.items() if key not in ("machine", "measured", "commit")}
    return json.loads(json.dumps(document))


def nothing_half(name: str, before: dict[str, Any], after: dict[str, Any]) -> None:
    """Raise unless every output is as it was before the command, or as it is after an undisturbed one."""
    for output, content in contents(name).items():
        if content not in (before[output], after[output]) and not _is_begun(output, content, after[output]):
            raise Difference(f"{name}: {output} is neither as before nor as it should be")
    for file in (one for one in os.listdir() if one.endswith(".tr")):
        tr.load(file)


def _is_begun(output: str, content: Any, whole: Any) -> bool:
    """Whether a file that grows, of trials or of runs, holds the beginning of what it should."""
    if output.endswith(".jsonl"):
        return bool(content == whole[: len(content)])
    if output == "c.json" and isinstance(content, dict):
        return all(run["error"] or run in whole["runs"] for run in content["runs"])
    return output.endswith(".json") or output == "c.users.npz"


def left_behind(name: str, before: set[str]) -> list[str]:
    """Return the files in the folder that neither were there nor are outputs."""
    return sorted(set(os.listdir()) - before - set(COMMANDS[name][1]))
