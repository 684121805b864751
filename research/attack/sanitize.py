"""`python -m research.attack.sanitize`: native kernels built with sanitizers, under their tests and their attack.

AddressSanitizer sees every byte read or written beside an array, UndefinedBehaviorSanitizer every overflow and
misaligned number, ThreadSanitizer every value that two threads use at once. What they see ends the process.
"""

from __future__ import annotations

import json as json_format
import os
import subprocess
import sys
import tempfile
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any
from xml.etree import ElementTree

from cyclopts import App, Parameter, validators

from research.output import provenance, write_json
from taylorank.cli.app import run_app
from taylorank.cli.options import command_line
from taylorank.errors import TaylorankError
from taylorank.machine import describe_machine

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = "python -m research.attack.sanitize"
app = App(name=PROGRAM, help_format="plaintext", version_flags=(), suppress_keyboard_interrupt=False)

# Python looks for a module of this name when it starts, in every process: from then on the native module is this one.
SITE = """import importlib.util, pathlib, sys
place = next(pathlib.Path(__file__).parent.glob("_native*.so"))
spec = importlib.util.spec_from_file_location("taylorank.kernels._native", place)
sys.modules[spec.name] = module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
"""


@dataclass(frozen=True)
class Build:
    """Sanitizers that go together, and how they are set."""

    sanitizers: str
    says: str
    libraries: tuple[str, ...]  # that must be there before Python
    environment: dict[str, str]


BUILDS = {
    "address": Build(
        "address,undefined",
        "AddressSanitizer and UndefinedBehaviorSanitizer",
        ("libasan.so", "libstdc++.so"),
        {
            # Python never gives back what it keeps until its end; an allocation that is too large is an exception.
            "ASAN_OPTIONS": "detect_leaks=0:allocator_may_return_null=1",
            "UBSAN_OPTIONS": "print_stacktrace=1",
        },
    ),
    "thread": Build(
        "thread",
        "ThreadSanitizer",
        ("libtsan.so",),
        # Other libraries are not built with it: how their threads wait for each other it cannot see.
        {"TSAN_OPTIONS": "halt_on_error=1:ignore_noninstrumented_modules=1:allocator_may_return_null=1"},
    ),
}


@app.default
def sanitize(
    names: Annotated[list[str] | None, Parameter(help=f"Which: {', '.join(BUILDS)}; all if none is named.")] = None,
    /,
    *,
    minutes: Annotated[float, Parameter(help="Time of each attack.", validator=validators.Number(gt=0))] = 2.0,
    json: Annotated[Path | None, Parameter(help="File for the figures; those of other builds in it stay.")] = None,
) -> None:
    """Build the native kernels with sanitizers, then run their tests and their attack; exit code 2 if any is found.

    Example: python -m research.attack.sanitize thread --minutes 1 --json sanitize.json
    """
    made = provenance(command_line())  # of what is built: the record itself changes the tree
    for name in names or list(BUILDS):
        if name not in BUILDS:
            raise TaylorankError(f"no build is called {name!r}", f"choose from {', '.join(BUILDS)}")
        folder = ROOT / "build" / "sanitize" / name
        if not is_built(folder):
            build_module(BUILDS[name], folder)
        found = _found(name, environment_of(BUILDS[name], folder), minutes)
        if json is not None:
            write_json(json, with_build(json, name, {**made, **found}))


def _found(name: str, environment: dict[str, str], minutes: float) -> dict[str, Any]:
    """Run tests and attack with a build; return how many passed and were tried. What is found ends this with an error.

    The tests without those that limit addresses, which leaves none to a sanitizer.
    """
    with tempfile.TemporaryDirectory() as folder:
        tests, cases = Path(folder) / "tests.xml", Path(folder) / "cases.json"
        without = "not memory_that_runs_out"
        words = ["-m", "pytest", "-q", "-s", "-x", "tests/kernels", "-k", without, f"--junitxml={tests}"]
        _run([sys.executable, *words], environment, name)
        words = ["-m", "research.attack", "kernels", "--minutes", f"{minutes:g}", "--json", str(cases)]
        _run([sys.executable, *words], environment, name)
        return {**passed(tests), "attack": json_format.loads(cases.read_text(encoding="utf-8"))["attacks"]["kernels"]}


def passed(file: Path) -> dict[str, int]:
    """Return how many tests passed and were skipped, by what pytest wrote."""
    suites = list(ElementTree.parse(file).getroot().iter("testsuite"))
    total, skipped = (sum(int(suite.get(name, 0)) for suite in suites) for name in ("tests", "skipped"))
    return {"tests": total - skipped, "skipped": skipped}


def with_build(file: Path, name: str, found: dict[str, Any]) -> dict[str, Any]:
    """Return the figures in the file with those of one build in their place."""
    known = json_format.loads(file.read_text(encoding="utf-8"))["builds"] if file.exists() else {}
    builds = {**known, name: {"machine": describe_machine(), "says": BUILDS[name].says, **found}}
    return {"builds": {one: builds[one] for one in BUILDS if one in builds}}


def is_built(folder: Path) -> bool:
    """Whether the native module in `folder` is newer than what it is built from; a build takes minutes."""
    built = [place.stat().st_mtime for place in folder.glob("_native*.so")]
    sources = [ROOT / "CMakeLists.txt", *(place for place in (ROOT / "native").rglob("*") if place.is_file())]
    return bool(built) and max(built) > max(place.stat().st_mtime for place in sources)


def build_module(build: Build, folder: Path) -> None:
    """Build the native module into `folder`, and what makes Python take it."""
    folder.mkdir(parents=True, exist_ok=True)
    options = [f"cmake.define.TAYLORANK_SANITIZE={build.sanitizers}", f"build-dir={folder / 'objects'}"]
    words = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(folder), str(ROOT)]
    for option in options:
        words += ["--config-settings", option]
    _run(words, {**os.environ, "TAYLORANK_REQUIRE_NATIVE": "1"}, "the build")
    wheel = max(folder.glob("*.whl"), key=lambda place: place.stat().st_mtime)
    with zipfile.ZipFile(wheel) as archive:
        inside = next(name for name in archive.namelist() if name.endswith(".so") and "/_native" in name)
        part = folder / f"{Path(inside).name}.part"
        part.write_bytes(archive.read(inside))
        part.replace(folder / Path(inside).name)  # a process that has it mapped keeps the old one
    (folder / "sitecustomize.py").write_text(SITE)


def environment_of(build: Build, folder: Path) -> dict[str, str]:
    """Return the environment in which Python runs with this build."""
    compiler = os.environ.get("CXX", "c++")
    places = [
        subprocess.run([compiler, f"-print-file-name={library}"], capture_output=True, text=True, check=True).stdout
        for library in build.libraries
    ]
    own = {
        "LD_PRELOAD": " ".join(place.strip() for place in places),
        "PYTHONPATH": os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep),
        "OPENBLAS_NUM_THREADS": "1",  # whose threads are none of ours
        "TAYLORANK_REQUIRE_NATIVE": "1",
    }
    return {**os.environ, **build.environment, **own}


def _run(words: list[str], environment: dict[str, str], name: str) -> None:
    print("$", " ".join(words), flush=True)
    if subprocess.run(words, cwd=ROOT, env=environment, check=False).returncode:
        raise TaylorankError(f"{name}: {' '.join(words[2:5])} failed", "its output says where")


if __name__ == "__main__":
    run_app(app, program=PROGRAM)
