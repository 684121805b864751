"""The default penalties of `Neural` are those that the record favours."""

from __future__ import annotations

import json

import pytest

pytest.importorskip("torch")

import taylorank as tr
from research.bench.quality.neural_defaults import PENALTIES, relative
from research.places import HERE
from taylorank.training.composition import default_penalty


def test_the_record_favours_what_was_chosen():
    """No λ has a mean share more than 3 points above that of the chosen one."""
    record = json.loads((HERE.records / "bench" / "neural_defaults.json").read_text())
    assert record["relative"] == relative(record["ndcg@10"])
    for name, shares in record["relative"].items():
        chosen = default_penalty(tr.Neural(*name.split("/")))
        assert shares[PENALTIES.index(chosen)] >= max(shares) - 0.03, name
