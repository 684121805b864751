"""Models of one table, in one record or in two, are tested against each other and the tests are kept."""

from __future__ import annotations

import json

import pytest

import taylorank as tr
from research.places import Places
from research.reproduce import TABLES
from research.reproduce.gather import gather
from research.reproduce.paired import PairedTests
from research.reproduce.run import reproduce
from taylorank.errors import DataError
from taylorank.selection import Comparison

TABLE = TABLES["ml-10m"]


@pytest.fixture(scope="module")
def comparisons():
    data = tr.planted(90, 70, interactions=2500)
    parts = {"ml-10m": ["ease", "wrmf"], "ml-10m-more": ["ials"]}
    return {file: reproduce(TABLE, data, models, seeds=(0, 1), trials=0) for file, models in parts.items()}


@pytest.fixture
def places(comparisons, tmp_path):
    found = Places(tmp_path)
    found.comparisons.mkdir(parents=True)
    for file, one in comparisons.items():
        one.save(found.comparisons / f"{file}.json", per_user=True)
    return found


def paired_in(places):
    return PairedTests(TABLE, gather(TABLE, places), places)


def test_it_is_the_test_of_a_comparison_of_the_two(places):
    data = tr.planted(90, 70, interactions=2500)
    pair = reproduce(TABLE, data, ["ease", "ials"], seeds=(0, 1), trials=0)
    worse = "ials" if pair.record["summary"]["best"]["ndcg@10"] == "ease" else "ease"
    expected = pair.models[worse]["versus_best"]["ndcg@10"]
    found = paired_in(places).test("ease", "ials", "ndcg@10", seeds=[0, 1])
    assert found.p == expected["p"]
    assert abs(found.difference) == pytest.approx(abs(expected["difference"]), rel=1e-5)
    assert found.high - found.low == pytest.approx(expected["high"] - expected["low"], rel=1e-4)
    back = paired_in(places).test("ials", "ease", "ndcg@10", seeds=[0, 1])
    assert (back.p, back.difference) == (found.p, -found.difference)


def test_tests_on_file_need_no_values_and_go_with_their_records(run, places, comparisons, capsys):
    assert run("comparisons", "pairs", "ml-10m", "--root", places.root) == 0
    assert "6 tests of 6" in capsys.readouterr().out
    made = paired_in(places).test("ease", "ials", "mrr@10", seeds=[0, 1])
    for path in places.comparisons.glob("*.users.npz"):
        path.unlink()
    tests = paired_in(places)
    assert tests.test("ease", "ials", "mrr@10", seeds=[0, 1]) == made
    assert tests.test("ials", "ease", "mrr@10", seeds=[0, 1]) == made
    assert tests.test("ease", "ials", "mrr@10", seeds=[0]) is None  # was made on both seeds
    assert tests.test("ease", "ials", "map@10", seeds=[0, 1]) is None  # of no column of the table
    assert run("comparisons", "pairs", "ml-10m", "--root", places.root) == 0
    assert "6 tests of 6" in capsys.readouterr().out  # those on file stay
    newer = comparisons["ml-10m-more"].record | {"written": "2030-01-01T00:00:00Z"}
    Comparison(newer).save(places.comparisons / "ml-10m-more.json")
    tests = paired_in(places)
    assert tests.test("ease", "ials", "mrr@10", seeds=[0, 1]) is None  # of runs that are no longer there
    assert tests.test("ease", "wrmf", "mrr@10", seeds=[0, 1]) is not None


def test_other_files_are_refused(places):
    (places.records / "paired").mkdir()
    (places.records / "paired" / "ml-10m.json").write_text(json.dumps({"schema": "something else"}))
    with pytest.raises(DataError, match="holds no paired tests"):
        paired_in(places)
