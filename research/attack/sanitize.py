"""`python -m research.attack.sanitize`: native kernels built with sanitizers, under their tests and their attack.

AddressSanitizer sees every byte read or written beside an array, UndefinedBehaviorSanitizer every overflow and
misaligned number, ThreadSanitizer every value that two threads use at once. What they see ends the process.
"""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from cyclopts import App, Parameter, validators

from taylorank.cli.app import run_app
from taylorank.errors import TaylorankError

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
    libraries: tuple[str, ...]  # that must be there before Python
    environment: dict[str, str]


BUILDS = {
    "address": Build(
        "address,undefined",
        ("libasan.so", "libstdc++.so"),
        {
            # Python never gives back what it keeps until its end; an allocation that is too large is an exception.
            "ASAN_OPTIONS": "detect_leaks=0:allocator_may_return_null=1",
            "UBSAN_OPTIONS": "print_stacktrace=1",
        },
    ),
    "thread": Build("thread", ("libtsan.so",), {"TSAN_OPTIONS": "halt_on_error=1"}),
}


@app.default
def sanitize(
    names: Annotated[list[str] | None, Parameter(help=f"Which: {', '.join(BUILDS)}; all if none is named.")] = None,
    /,
    *,
    minutes: Annotated[float, Parameter(help="Time of each attack.", validator=validators.Number(gt=0))] = 2.0,
) -> None:
    """Build the native kernels with sanitizers, then run their tests and their attack; exit code 2 if any is found.

    Example: python -m research.attack.sanitize thread --minutes 1
    """
    for name in names or list(BUILDS):
        if name not in BUILDS:
            raise TaylorankError(f"no build is called {name!r}", f"choose from {', '.join(BUILDS)}")
        folder = ROOT / "build" / "sanitize" / name
        build_module(BUILDS[name], folder)
        environment = environment_of(BUILDS[name], folder)
        without = "not memory_that_runs_out"  # a limit of addresses leaves none to a sanitizer
        _run([sys.executable, "-m", "pytest", "-q", "-x", "tests/kernels", "-k", without], environment, name)
        _run([sys.executable, "-m", "research.attack", "kernels", "--minutes", f"{minutes:g}"], environment, name)


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
        (folder / Path(inside).name).write_bytes(archive.read(inside))
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
