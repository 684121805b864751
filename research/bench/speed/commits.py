"""Speed, memory and quality of commits, at sizes that take seconds: has something become slower, larger or worse?

Every commit is built as a wheel in a checkout of its own (kept in build/commits), and measured by the same script in a
process of its own: planted data of 2,000 × 1,000 with 60,000 interactions and of 20,000 × 5,000 with a million. Seconds
are the best of several repeats; memory is the peak of the process; quality is NDCG@10 on the smaller set, which no
commit may lower. A record that is there is added to, if it is of the same machine: commits measured before stay.

    python -m research.bench commits HEAD~20 HEAD --json research/records/bench/commits.json
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from research.places import HERE
from taylorank.errors import DataError
from taylorank.machine import describe_machine

SCRIPT = Path(__file__).with_name("commits_script.txt")
RECORD = HERE.records / "bench" / "commits.json"
BUILT = HERE.root / "build" / "commits"
WORSE = 1.25  # times the seconds or bytes of the commit before: named in the description
LOWER = 0.99  # of the NDCG


def run(*commits: str, prepare: bool = False, quick: bool = False) -> dict[str, Any]:
    """Measure commits (HEAD if none is named) and add them to the record; `prepare` builds and measures nothing."""
    wanted = [commit_named(name) for name in commits or ("HEAD",)]
    folders = {commit["commit"]: built(commit["commit"]) for commit in wanted}
    machine = describe_machine()
    known = {one["commit"]: one for one in before(machine)}
    if not prepare:
        for commit in wanted:
            known[commit["commit"]] = {**commit, **measured(folders[commit["commit"]], quick=quick)}
    return {
        "benchmark": "commits",
        "machine": machine,
        "commits": sorted(known.values(), key=lambda one: (one["date"], one["commit"])),
    }


def before(machine: dict[str, Any]) -> list[dict[str, Any]]:
    """Return what the record holds, if it was made on such a machine."""
    if not RECORD.exists():
        return []
    record = json.loads(RECORD.read_text(encoding="utf-8"))
    same = all(record["machine"].get(key) == machine.get(key) for key in ("cpu", "cores"))
    found: list[dict[str, Any]] = record["commits"] if same else []
    return found


def git(*words: str) -> str:
    """Return what git says."""
    done = subprocess.run(["git", *words], cwd=HERE.root, capture_output=True, text=True, check=False)
    if done.returncode:
        raise DataError(f"git {' '.join(words)}: {done.stderr.strip()}", "name commits of this checkout")
    return done.stdout.strip()


def commit_named(name: str) -> dict[str, str]:
    """Return a commit with its date and what it says."""
    commit, date, words = git("log", "-1", "--format=%H%n%cI%n%s", name).splitlines()
    return {"commit": commit, "date": date, "words": words}


def built(commit: str) -> Path:
    """Return a folder with the installed library of a commit; build it where it is not there yet."""
    target = BUILT / commit[:12]
    if target.is_dir():
        return target
    with tempfile.TemporaryDirectory() as folder:
        checkout, wheels = Path(folder) / "checkout", Path(folder) / "wheels"
        checkout.mkdir()
        archive = subprocess.run(["git", "archive", commit], cwd=HERE.root, capture_output=True, check=True).stdout
        subprocess.run(["tar", "-x", "-C", str(checkout)], input=archive, check=True)
        pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
        environment = {**os.environ, "TAYLORANK_REQUIRE_NATIVE": "1"}
        wheel = [*pip, "wheel", "--no-deps", "--wheel-dir", str(wheels), str(checkout)]
        subprocess.run(wheel, check=True, env=environment)
        (file,) = wheels.glob("*.whl")
        subprocess.run([*pip, "install", "--no-deps", "--target", str(target), str(file)], check=True)
    return target


def measured(folder: Path, *, quick: bool) -> dict[str, Any]:
    """Return what the script finds of the library in a folder."""
    environment = {**os.environ, "PYTHONPATH": str(folder), "TAYLORANK_REQUIRE_NATIVE": "1"}
    # -S keeps the editable install of this checkout out; the other packages are named instead.
    paths = os.pathsep.join(path for path in sys.path if "site-packages" in path)
    environment["PYTHONPATH"] += os.pathsep + paths
    command = [sys.executable, "-S", "-c", SCRIPT.read_text(encoding="utf-8"), str(folder), str(int(quick))]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    if done.returncode:
        raise DataError(f"the library in {folder} cannot be measured", done.stderr[-1500:])
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def describe(record: dict[str, Any]) -> list[str]:
    """Describe each commit in a line, and what became worse against the one before."""
    lines = []
    earlier: dict[str, Any] | None = None
    for one in record["commits"]:
        seconds = ", ".join(f"{name} {1000 * value:.0f} ms" for name, value in one["seconds"].items())
        lines.append(
            f"{one['date'][:10]} {one['commit'][:10]}: {seconds}; peak {one['peak_mb']:.0f} MB; "
            + ", ".join(f"{name} {value:.4f}" for name, value in one["ndcg@10"].items())
        )
        lines += [f"  worse than the commit before: {words}" for words in worse(earlier, one)]
        earlier = one
    return lines


def worse(earlier: dict[str, Any] | None, one: dict[str, Any]) -> list[str]:
    """Return what is slower, larger or lower than in the commit before.

    >>> was = {"seconds": {"fit": 1.0}, "peak_mb": 100.0, "ndcg@10": {"RG2": 0.20}}
    >>> worse(was, {"seconds": {"fit": 1.5}, "peak_mb": 110.0, "ndcg@10": {"RG2": 0.19}})
    ['fit takes 1.50 times as long', 'RG2 ranks 5.0 % lower']
    """
    if earlier is None:
        return []
    both = [name for name in one["seconds"] if name in earlier["seconds"]]
    ratios = {name: one["seconds"][name] / earlier["seconds"][name] for name in both}
    found = [f"{name} takes {ratio:.2f} times as long" for name, ratio in ratios.items() if ratio > WORSE]
    if one["peak_mb"] > WORSE * earlier["peak_mb"]:
        found.append(f"{one['peak_mb'] / earlier['peak_mb']:.2f} times the memory")
    for name, value in one["ndcg@10"].items():
        was = earlier["ndcg@10"].get(name, 0.0)
        if value < LOWER * was:
            found.append(f"{name} ranks {100 * (1 - value / was):.1f} % lower")
    return found
