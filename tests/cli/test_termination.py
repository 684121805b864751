"""SIGTERM, which systems send to what they stop: the checkpoint is written, nothing else is left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest

import taylorank as tr
from tests.cli.command import run

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals of Unix")


def test_a_fit_that_is_terminated_leaves_its_checkpoint(tmp_path):
    log, out, kept = tmp_path / "log.npz", tmp_path / "model.tr", tmp_path / "fit.npz"
    tr.planted(120, 60, interactions=2000, random_state=2).save_npz(log)
    words = ["train", log, "--model", "ials", "--iterations", "10000000", "--out", out, "--checkpoint", kept]
    code = "import sys; from taylorank.cli import main; main(sys.argv[1:])"
    process = subprocess.Popen(
        [sys.executable, "-u", "-c", code, *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        assert "Interactions" in process.stdout.readline()
        time.sleep(1)  # some of its millions of sweeps
        process.send_signal(signal.SIGTERM)
        _, complaint = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 143
    assert complaint == "taylorank: terminated; nothing is left half-written\n"
    assert sorted(os.listdir(tmp_path)) == ["fit.npz", "log.npz"]
    stopped = []
    model = tr.IALS(iterations=10_000_000)
    model.fit(tr.Interactions.load_npz(log), checkpoint=kept, callback=lambda p: stopped.append(p.step) or True)
    assert stopped[0] > 1


def test_what_others_do_at_sigterm_is_restored():
    before = signal.getsignal(signal.SIGTERM)
    assert run("--version") == 0
    assert signal.getsignal(signal.SIGTERM) is before
