from __future__ import annotations

import subprocess

import pytest

from taylorank.machine import describe_machine, source_commit, stolen_share


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


def test_the_commit_is_that_of_the_checkout_which_holds_the_source(tmp_path):
    def git(*words):
        who = ("-c", "user.name=a", "-c", "user.email=a@example.org")
        return subprocess.run(["git", "-C", tmp_path, *who, *words], capture_output=True, text=True, check=True).stdout

    try:
        git("init")
    except OSError:
        pytest.skip("needs git")
    source, installed = tmp_path / "src", tmp_path / "site-packages"
    for folder in (source, installed):
        folder.mkdir()
        (folder / "module.py").write_text("one = 1\n")
    git("add", "src")
    git("commit", "-m", "first")
    commit = git("rev-parse", "HEAD").strip()
    assert source_commit(source) == commit
    (source / "module.py").write_text("one = 2\n")
    assert source_commit(source) == f"{commit}-dirty"
    assert source_commit(installed) is None  # in the checkout of another project
    assert source_commit(tmp_path / "nowhere") is None
