from __future__ import annotations

from taylorank.machine import describe_machine, stolen_share


def test_the_stolen_share_counts_steal_against_all_busy_time():
    before = [0] * 10
    after = [30, 0, 10, 500, 7, 0, 0, 20, 0, 0]  # user, nice, system, idle, iowait, irq, softirq, steal, guests
    assert stolen_share(before, after) == round(20 / 60, 3)
    assert stolen_share(before, before) == 0.0
    assert stolen_share(None, after) is None


def test_facts_name_versions_and_kernels():
    facts = describe_machine()
    assert "numpy" in facts["libraries"]
    assert "kernels" in facts["kernels"]
