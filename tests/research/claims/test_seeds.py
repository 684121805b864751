"""The check of verdicts over seeds sees a verdict that varies."""

from __future__ import annotations

from dataclasses import replace

from research.claims import CLAIMS
from research.claims.claim import Judgement, decide
from research.claims.seeds import main, steady_claims, verdicts

QUICK = [CLAIMS["rg2-square-form"], CLAIMS["label-weights"]]


def test_claims_that_train_or_take_times_are_left_out():
    names = {claim.id for claim in steady_claims()}
    assert {"rg2-square-form", "graded-relevance", "sgd-sublinear", "classification-calibrated"} <= names
    assert not names & {"nce-plateaus", "sparsemax-needs-fewer-epochs", "cost-of-a-step", "finding-1-on-ml-1m"}


def test_verdicts_that_stay(capsys):
    assert main(QUICK) == 0
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
    assert main([by_luck, QUICK[1]]) == 1
    shown = capsys.readouterr().out
    assert "rg2-square-form: holds, fails\n" in shown
    assert shown.endswith("(of 5): rg2-square-form\n")
