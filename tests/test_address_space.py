"""Little room for addresses: refused in one line where OpenBLAS would wait for ever or end the process."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from taylorank import address_space
from taylorank.errors import TaylorankError

MIB = 1 << 20
linux = pytest.mark.skipif(sys.platform != "linux", reason="Linux keeps the limit")
LIMITED = """
import resource, sys
from pathlib import Path

def leave(mib):
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + mib * (1 << 20), resource.RLIM_INFINITY))
"""


def run(code, **environment):
    known = {name: value for name, value in os.environ.items() if not name.endswith("_NUM_THREADS")}
    words = [sys.executable, "-c", LIMITED + code]
    return subprocess.run(words, env={**known, **environment}, capture_output=True, text=True, timeout=60)


@linux
@pytest.mark.parametrize("mib", [130, 240])
def test_the_command_line_says_so_before_it_loads_anything(mib):
    code = f"from taylorank.cli import main\nleave({mib})\nmain(['train', 'ml-1m'])"
    done = run(code, OPENBLAS_NUM_THREADS="2")
    assert done.returncode == 2
    assert done.stderr.startswith("taylorank: this process may take ")
    assert "NumPy and SciPy take about 304; raise its limit of addresses (ulimit -v)" in done.stderr
    assert done.stderr.count("\n") == 1


@linux
def test_the_library_says_so_too():
    done = run("import taylorank as tr\nleave(100)\ntr.RG2", OPENBLAS_NUM_THREADS="1")
    assert done.returncode == 1
    assert "MiB more, and NumPy and SciPy take about 224" in done.stderr


@linux
@pytest.mark.parametrize("model", ["RG2(4)", "EASE(9)"])
def test_a_fit_is_refused_where_blas_would_not_come_back(model):
    code = f"""
import os
import taylorank as tr
data = tr.planted(60, 30, interactions=600, random_state=0)
model = tr.{model}
pid = os.fork()  # OpenBLAS begins anew in a forked process
if pid:
    sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
leave(8)
try:
    model.fit(data)
except Exception as error:
    print(type(error).__name__, error)
"""
    done = run(code, OPENBLAS_NUM_THREADS="2")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("MemoryLimitError this process may take")
    assert "a computation takes about 120" in done.stdout


def test_without_a_limit_nothing_is_refused(monkeypatch):
    monkeypatch.setattr(address_space, "left_of_address_space", lambda: None)
    address_space.check_room_to_compute()
    address_space.check_room_to_load()


@pytest.mark.parametrize(
    ("environment", "threads"),
    [({"OPENBLAS_NUM_THREADS": "3", "OMP_NUM_THREADS": "5"}, 3), ({"OMP_NUM_THREADS": "5"}, 5)],
)
def test_threads_are_those_that_the_environment_asks_for(monkeypatch, environment, threads):
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
        monkeypatch.delenv(name, raising=False)
    assert address_space.blas_threads() >= 1
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert address_space.blas_threads() == threads
    monkeypatch.setattr(address_space, "left_of_address_space", lambda: 40 * (1 + threads) * MIB)
    address_space.check_room_to_compute()
    monkeypatch.setattr(address_space, "left_of_address_space", lambda: 40 * (1 + threads) * MIB - 1)
    with pytest.raises(TaylorankError, match="OPENBLAS_NUM_THREADS=1"):
        address_space.check_room_to_compute()
