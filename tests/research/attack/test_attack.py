"""The runner counts every kind of fault, and a sample of each attack finds none."""

from __future__ import annotations

import json
import os
import random
import time

import pytest

from research.attack import ATTACKS, Difference, Seen, trial
from research.attack.mutations import mutated
from research.attack.trial import Tally, one_case, run_attack
from taylorank.errors import DataError

# So many that some are accepted and some refused whatever the models' parameters are: of numbers a quarter is refused,
# of parameters a tenth is accepted (20 of 180; of 60 there were from 3 to 12).
SAMPLES = {
    **{"parsers": 150, "kernels": 2000, "numbers": 50, "parameters": 180},
    **{"kills": 12, "surroundings": 14, "server": 12, "determinism": 12},
}
NEVER_REFUSED = ("kills", "surroundings", "server", "determinism")  # or not always
COUNTED = {
    "kills": [f"kills of {name}" for name in ("train", "tune", "compare", "save", "export", "reload")],
    "server": ["described: requests", "broken HTTP: requests", "steady: requests"],
}


def test_every_attack_is_sampled():
    """A kill of Spark's driver is in tests/spark, as such a case starts Java a dozen times; a GPU is rarely there."""
    assert ATTACKS.keys() - SAMPLES.keys() == {"driver", "gpu"}


def test_what_the_machine_does_not_allow_ends_soon(monkeypatch):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    found = run_attack("gpu", seconds=600).record()
    assert (found["tried"], found["skipped"], found["faults"]) == (0, trial.FEWEST, [])


@pytest.mark.parametrize("name", SAMPLES)
def test_a_sample_finds_nothing(name):
    found = run_attack(name, seconds=120, first_seed=10_000, most=SAMPLES[name]).record()
    assert found["faults"] == []
    assert found["tried"] + found["skipped"] == SAMPLES[name]
    assert found["result"] > 5
    assert found["refused"] > 5 or name in NEVER_REFUSED
    assert found.get("parts", {}).keys() >= set(COUNTED.get(name, ()))
    assert sum(found.get("parts", {}).values()) > 5 or name not in COUNTED


def test_every_outcome_has_a_name(tmp_path):
    def attack(seed, folder):
        if seed:
            raise (DataError("no"), Difference("other"), KeyError("k"), MemoryError())[seed - 1]
        return "result"

    outcomes = [one_case(attack, seed, tmp_path)[0].outcome for seed in range(5)]
    assert outcomes == ["result", "refused", "difference", "exception", "exception"]


class Ending:
    """Stands for a worker: case 1 ends the process, case 2 does not end."""

    made, longest = 0, 60.0

    def __init__(self, name):
        Ending.made += 1

    def tried(self, seed):
        outcome, what = {1: ("crash", "gone"), 2: ("hang", "slow")}.get(seed, ("result", ""))
        return Seen(outcome, {"kills": seed}, {"MiB": [5.0, 7.0, 9.0, 6.0][seed]}), what

    def end(self):
        pass


def test_after_a_crash_or_a_hang_another_process_goes_on(monkeypatch):
    monkeypatch.setattr(trial, "Worker", Ending)
    record = run_attack("parsers", seconds=60, most=4).record()
    assert (record["tried"], record["result"], record["crash"], record["hang"]) == (4, 2, 1, 1)
    assert [fault["seed"] for fault in record["faults"]] == [1, 2]
    assert Ending.made == 3
    assert record["parts"] == {"kills": 6}
    assert record["measures"] == {"MiB": {"first": 5.0, "highest": 9.0, "last": 6.0}}


def test_a_worker_that_dies_or_waits_is_noticed(monkeypatch):
    monkeypatch.setattr(trial, "SECONDS_OF_A_CASE", 20.0)
    worker = trial.Worker("parsers")
    assert worker.tried(0)[0].outcome in ("result", "refused")
    os.kill(worker.process.pid, 9)
    assert worker.tried(1)[0].outcome == "crash"
    worker.end()
    worker = trial.Worker("parsers")
    os.kill(worker.process.pid, 19)  # it stops, and does not answer
    worker.longest = 0.5
    began = time.monotonic()
    assert worker.tried(0)[0].outcome == "hang"
    assert time.monotonic() - began < 10
    worker.end()


def test_a_record_names_the_commit_of_its_start(run, tmp_path, monkeypatch):
    """Writing the first record changes the tree; the second is of the same commit."""
    commits = iter(["clean", "changed"])
    monkeypatch.setattr("research.attack.command.run_attack", lambda name, **_: Tally())
    monkeypatch.setattr("research.attack.command.provenance", lambda words: {"commit": next(commits)})
    file = tmp_path / "found.json"
    assert run("attack", "parsers", "kernels", "--json", str(file)) == 0
    assert [one["commit"] for one in json.loads(file.read_text())["attacks"].values()] == ["clean", "clean"]


def test_the_same_seed_makes_the_same_damage():
    content = b"user,item\n1,2\n" * 9
    damaged = [mutated(content, random.Random(seed)) for seed in range(40)]
    assert damaged == [mutated(content, random.Random(seed)) for seed in range(40)]
    assert len(set(damaged)) > 25


def test_the_command_writes_figures_and_fails_where_there_are_faults(run, tmp_path, monkeypatch, capsys):
    tally = Tally()
    tally.add(0, "result")
    monkeypatch.setattr("research.attack.command.run_attack", lambda name, **_: tally)
    file = tmp_path / "found.json"
    assert run("attack", "parsers", "--minutes", "0.1", "--json", str(file)) == 0
    assert run("attack", "parameters", "--minutes", "0.1", "--json", str(file)) == 0  # beside what is there
    kept = json.loads(file.read_text())["attacks"]
    assert {name: one["tried"] for name, one in kept.items()} == {"parsers": 1, "parameters": 1}
    assert kept["parsers"]["command"].endswith(f"attack parsers --minutes 0.1 --json {file}")
    tally.add(1, "crash", "gone")
    assert run("attack", "parsers", "--minutes", "0.1") == 2
    shown = capsys.readouterr()
    assert "seed 1: crash, gone" in shown.out
    assert "1 faults were found" in shown.err
    assert run("attack", "dance") == 2
    assert run("attack", "--minutes", "0") == 2
