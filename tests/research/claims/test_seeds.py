"""The check of verdicts over seeds sees a verdict that varies."""

from __future__ import annotations

from dataclasses import replace

from research.claims import CLAIMS
from research.claims.claim import Judgement, decide
from research.claims.seeds import steady_claims, varying, verdicts

QUICK = [CLAIMS["rg2-square-form"], CLAIMS["label-weights"]]


def test_claims_that_train_or_take_times_are_left_out():
    names = {claim.id for claim in steady_claims()}
    assert {"rg2-square-form", "graded-relevance", "sgd-sublinear", "classification-calibrated"} <= names
    assert {"cost-of-a-sweep", "cost-of-a-step", "wrmf-grid"} <= names  # they count, or have many sets
    assert not names & {"nce-plateaus", "sparsemax-needs-fewer-epochs", "finding-1-on-ml-1m"}
    assert "als-three-to-five-times-faster" not in names


def test_verdicts_that_stay(capsys):
    assert varying(QUICK) == []
    shown = capsys.readouterr().out
    assert "label-weights: holds with a correction\n" in shown
    assert shown.endswith("verdicts that depend on the seed (of 5): none\n")


def test_a_verdict_that_varies(capsys):
    by_luck = replace(
        QUICK[0],
        experiment=lambda seed: {"seed": seed},
        judge=lambda numbers: Judgement(decide(numbers["seed"] < 4), "luck"),
    )
    assert verdicts(by_luck) == ["holds"] * 4 + ["fails"]
    assert varying([by_luck, QUICK[1]]) == [by_luck.id]
    shown = capsys.readouterr().out
    assert "rg2-square-form: holds, fails\n" in shown
    assert shown.endswith("(of 5): rg2-square-form\n")


def test_the_command_says_so(run, monkeypatch, capsys):
    assert run("claims", "label-weights", "--seeds", 2) == 0
    assert capsys.readouterr().out.endswith("verdicts that depend on the seed (of 2): none\n")
    monkeypatch.setattr("research.claims.command.varying", lambda claims, **_: [claim.id for claim in claims])
    assert run("claims", "label-weights", "--seeds", 2) == 1
