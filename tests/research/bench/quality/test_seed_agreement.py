"""What README and docs say of two seeds is what the record says."""

from __future__ import annotations

import json

import pytest

from research.bench.quality.seed_agreement import describe, measured
from research.places import HERE
from taylorank.data import planted
from taylorank.models import RG2


@pytest.fixture(scope="module")
def record():
    return json.loads((HERE.records / "bench" / "seed_agreement.json").read_text(encoding="utf-8"))


def test_no_sentence_goes_beyond_the_record(record):
    assert record["default"] == RG2().tolerance
    rows = {(row["data"], row["tolerance"]): row for row in record["results"]}
    default = {name: rows[name, RG2().tolerance] for name in ("planted", "ml-1m", "yelp2018")}
    assert all(default[name]["same"] > 0.999 for name in ("ml-1m", "yelp2018"))
    assert default["planted"]["same"] == 1
    for page in ("README.md", "docs/models.md"):
        text = " ".join((HERE.root / page).read_text(encoding="utf-8").split())
        assert "more than 99.9 % of the users of ML-1M and Yelp2018" in text
    assert "more than 99.9 % of the users of ML-1M and Yelp2018" in " ".join((RG2.__doc__ or "").split())
    assert len(describe(record)) == len(rows)


def test_seeds_agree_more_the_smaller_the_tolerance():
    data = planted(1500, 900, interactions=30_000)
    rough, exact = (measured(data, tolerance) for tolerance in (1e-1, 0.0))
    assert rough["common"] < exact["common"] == exact["same"] == 1
