"""How long from nothing to recommendations on one's own csv? And does every wheel work?

For every Python from 3.11 on that is here (`.ci/pythons`): an empty venv, the wheel that suits it from a folder (and
with `--sdist` the source, which is compiled), then the README's own lines, on a csv of 100,000 rows: `taylorank fit`
with its minute, and lists for everybody. Then the same csv in Python. torch is not installed.

    make smoke ARGS="--json research/records/bench/first_steps.json"
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from research.places import HERE
from taylorank.errors import DataError
from taylorank.machine import describe_machine

STEPS = Path(__file__).with_name("first_steps_script.txt")
README_LINE = re.compile(r"^ {4}(taylorank .*?)\s*(?:#.*)?$", re.MULTILINE)
QUICK = ("--seconds 60", "--seconds 5")
MOST_SECONDS = 120.0
STABLE = (3, 12)  # from here on one wheel serves all


def run(folder: str = "dist", /, *, rows: int = 100_000, sdist: bool = False, quick: bool = False) -> dict[str, Any]:
    """Install what `folder` holds into an empty venv of every Python and take the first steps; `quick`: one Python."""
    wheels, sources = sorted(Path(folder).glob("*.whl")), sorted(Path(folder).glob("*.tar.gz"))
    if not wheels:
        raise DataError(f"{folder} holds no wheel", "run make wheel")
    tried = [
        first_steps(python, file, rows=10_000 if quick else rows, lines=readme_lines(quick=quick))
        for python in pythons()[: 1 if quick else None]
        for file in [wheel_for(python, wheels), *(sources if sdist else [])]
    ]
    lines = readme_lines(quick=quick)
    return {"benchmark": "first-steps", "rows": rows, "lines": lines, "machine": describe_machine(), "tried": tried}


def readme_lines(*, quick: bool = False) -> list[str]:
    """Return the commands that the README begins with; `quick`: with less time for the search."""
    lines = README_LINE.findall((HERE.root / "README.md").read_text(encoding="utf-8"))
    return [line.replace(*QUICK) if quick else line for line in lines]


def pythons() -> list[str]:
    """Return an interpreter of every minor version that is here."""
    return subprocess.run([HERE.root / ".ci" / "pythons"], capture_output=True, text=True, check=True).stdout.split()


def version_of(python: str) -> tuple[int, int, int]:
    """Return the version of an interpreter."""
    shown = subprocess.run([python, "--version"], capture_output=True, text=True, check=True).stdout
    major, minor, patch = (int(part) for part in shown.split()[1].split(".")[:3])
    return major, minor, patch


def wheel_for(python: str, wheels: list[Path]) -> Path:
    """Return the wheel that this Python installs."""
    version = version_of(python)
    tag = "-abi3-" if version[:2] >= STABLE else f"-cp{version[0]}{version[1]}-"
    fitting = [wheel for wheel in wheels if tag in wheel.name]
    if not fitting:
        raise DataError(f"no wheel for Python {version[0]}.{version[1]}", "run make wheel")
    return fitting[0]


def first_steps(python: str, file: Path, *, rows: int, lines: list[str]) -> dict[str, Any]:
    """Install a file into an empty venv and run the README's lines and the steps there; return the seconds of each."""
    with tempfile.TemporaryDirectory() as folder:
        began = time.perf_counter()
        subprocess.run([python, "-m", "venv", f"{folder}/venv"], check=True)
        made = time.perf_counter()
        pip = [f"{folder}/venv/bin/python", "-m", "pip", "--quiet", "--disable-pip-version-check", "install"]
        subprocess.run(
            [*pip, "--constraint", HERE.root / "constraints.txt", file.resolve()], check=True, stderr=sys.stderr
        )
        installed = time.perf_counter()
        command = [f"{folder}/venv/bin/python", "-c", STEPS.read_text(encoding="utf-8"), str(rows), json.dumps(lines)]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        if done.returncode:
            raise DataError(
                f"the first steps failed in Python {version_of(python)} with {file.name}", done.stderr[-2000:]
            )
        ended = time.perf_counter()
    return {
        "python": ".".join(map(str, version_of(python))),
        "file": file.name,
        "venv_seconds": round(made - began, 2),
        "install_seconds": round(installed - made, 2),
        "steps_seconds": round(ended - installed, 2),
        "seconds": round(ended - began, 2),
        **json.loads(done.stdout.splitlines()[-1]),
    }


def describe(record: dict[str, Any]) -> list[str]:
    """Describe the results in words."""
    return [
        f"Python {one['python']}, {one['file']}: {one['seconds']:.0f} s (target {MOST_SECONDS:g}: "
        f"{'kept' if one['seconds'] <= MOST_SECONDS else 'MISSED'}), of which installing {one['install_seconds']:.0f}, "
        f"csv to recommendations {one['recommended_seconds']:.1f}; {one['kernels']}"
        for one in record["tried"]
    ]
