"""`--space`: the command line searches where Python would."""

from __future__ import annotations

import json

import pytest

import taylorank as tr
from taylorank.cli.space_option import space_of, spaces_of
from taylorank.errors import ParameterError
from taylorank.selection.contenders import contenders
from tests.cli.command import run


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    place = tmp_path_factory.mktemp("space") / "log.csv"
    tr.planted(80, 40, interactions=1200, random_state=3).to_frame().write_csv(place)
    return place


def test_values_and_ranges_are_those_of_python():
    found = space_of(["factors=4,8", "regularization=0.1..0.5", "ranking=probability,lift"], tr.RG2())
    assert found == {
        "factors": tr.Choice((4, 8)),
        "regularization": tr.Range(0.1, 0.5),
        "ranking": tr.Choice(("probability", "lift")),
    }
    assert space_of(["proposal-exponent=0..1"], tr.RG2()) == {"proposal_exponent": tr.Range(0, 1)}
    assert space_of(["factors=4..64:log"], tr.IALS()) == {"factors": tr.Int(4, 64, log=True)}
    assert space_of(["half_life=null,30"], tr.RG2()) == {"half_life": tr.Choice((None, 30))}


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("factors", "has no values"),
        ("factors=", "names nothing"),
        ("factors=4..x", "no range"),
        ("factors=4..8:sqrt", "no scale"),
        ("factors=4..8:", "no scale"),
        ("factors=8..4", "empty"),
        ("regularization=0..1:log", "low > 0"),
        ("rank=4", "no parameter"),
    ],
)
def test_what_is_no_space_is_refused(text, word):
    with pytest.raises(ParameterError, match=word):
        space_of([text], tr.RG2())


def test_a_parameter_has_one_part():
    with pytest.raises(ParameterError, match="given twice"):
        space_of(["factors=4", "factors=8"], tr.RG2())


def test_a_comparison_has_a_space_for_each_model():
    entries = contenders(["rg2", "ease"])
    texts = ["rg2.factors=4,8", "ease.regularization=1..10:log", "rg2.regularization=0,0.5"]
    found = spaces_of(texts, entries)
    assert found["rg2"] == {"factors": tr.Choice((4, 8)), "regularization": tr.Choice((0, 0.5))}
    assert found["ease"] == {"regularization": tr.Range(1, 10, log=True)}
    for text in ("factors=4", "ials.factors=4", "regularization=0.5"):
        with pytest.raises(ParameterError, match="no model of --models"):
            spaces_of([text], entries)


def test_tune_searches_only_there(log, tmp_path, capsys):
    options = ["--space", "factors=3,5", "--space", "regularization=0.2..0.4", "--trials", "4"]
    assert run("tune", str(log), *options, "--json", str(tmp_path / "t.json")) == 0
    found = json.loads((tmp_path / "t.json").read_text())
    assert set(found["best"]) == {"factors", "regularization"}
    assert {trial["params"]["factors"] for trial in found["trials"]} <= {3, 5}
    assert all(0.2 <= trial["params"]["regularization"] <= 0.4 for trial in found["trials"])
    assert run("tune", str(log), "--space", "rank=4") == 2


def test_compare_searches_only_there(log, tmp_path):
    place = tmp_path / "c.json"
    options = ["--models", "ease,popularity", "--space", "ease.regularization=7,9", "--seeds", "1", "--trials", "2"]
    assert run("compare", str(log), *options, "--json", str(place), "--quiet") == 0
    record = json.loads(place.read_text())
    assert record["runs"][0]["params"]["regularization"] in (7, 9)
    assert run("compare", str(log), "--models", "ease", "--space", "regularization=7", "--quiet") == 2
