from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from taylorank import system

GIB = 2**30


@pytest.mark.parametrize(
    ("limit", "used", "expected"),
    [
        ("max", "5", 8 * GIB),
        (str(3 * GIB), str(GIB), 2 * GIB),
        (str(GIB), str(2 * GIB), 0),
        (str(90 * GIB), "0", 8 * GIB),
    ],
)
def test_a_container_has_what_its_limit_leaves(tmp_path, monkeypatch, limit, used, expected):
    (tmp_path / "memory.max").write_text(limit + "\n")
    (tmp_path / "memory.current").write_text(used + "\n")
    monkeypatch.setattr(system, "CGROUP", str(tmp_path))
    monkeypatch.setattr(system, "memory", lambda field: 8 * GIB)
    assert system.available_memory() == expected


@pytest.mark.skipif(sys.platform != "linux", reason="Linux tells what is in use")
def test_a_limit_of_addresses_counts(tmp_path, monkeypatch):
    import resource

    monkeypatch.setattr(system, "CGROUP", str(tmp_path))
    monkeypatch.setattr(system, "memory", lambda field: 8 * GIB)
    monkeypatch.setattr(resource, "getrlimit", lambda _: (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    assert system.left_of_address_space() is None
    assert system.available_memory() == 8 * GIB
    monkeypatch.setattr(resource, "getrlimit", lambda _: (1000, resource.RLIM_INFINITY))
    assert system.available_memory() == system.left_of_address_space() == 0  # more than that is in use


@pytest.mark.skipif(sys.platform != "linux", reason="Linux keeps the limit")
def test_tables_are_refused_where_polars_would_end_the_process(tmp_path):
    code = """
import resource
import taylorank as tr
from taylorank.errors import DataError
model = tr.RG2(2).fit(tr.planted(30, 20, interactions=200))
import polars
from taylorank.system import Path
used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + (2 << 20), resource.RLIM_INFINITY))
try:
    model.export("parquet", "shop")
except DataError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr
    assert "ulimit -v" in done.stdout
    assert list(tmp_path.iterdir()) == []


def test_a_system_that_does_not_tell(tmp_path, monkeypatch):
    monkeypatch.setattr(system, "CGROUP", str(tmp_path))
    monkeypatch.setattr(system, "proc_field", lambda path, field: None)
    assert system.available_memory() is None
    assert system.memory("MemTotal") is None


def measured(count):
    with system.peak_memory() as peak:
        np.ones(count, dtype=np.uint8)[::4096].sum()
    return peak.bytes


def test_the_peak_is_that_of_the_block_alone():
    if measured(1) is None:
        pytest.skip("this system keeps no high-water mark that can be set back")
    kept = np.ones(300_000_000, dtype=np.uint8)
    large = measured(200_000_000)
    small = measured(20_000_000)
    assert 190e6 < large < 230e6
    assert 15e6 < small < 50e6
    assert len(kept)


def test_the_peak_is_none_where_the_system_cannot_tell(monkeypatch):
    monkeypatch.setattr(system, "_reset_peak", lambda: None)
    assert measured(10) is None
