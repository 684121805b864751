from __future__ import annotations

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


def test_a_system_that_does_not_tell(tmp_path, monkeypatch):
    monkeypatch.setattr(system, "CGROUP", str(tmp_path))
    monkeypatch.setattr(system, "proc_field", lambda path, field: None)
    assert system.available_memory() is None
    assert system.memory("MemTotal") is None
