"""Ranges, choices, and the defaults of every model."""

from __future__ import annotations

import numpy as np
import pytest

from taylorank import losses
from taylorank.data import planted
from taylorank.errors import ParameterError
from taylorank.models import RG2, WRMF, Popularity
from taylorank.registry import MODELS
from taylorank.selection import SPACES, Choice, Range
from taylorank.selection.spaces import (
    cut_lines,
    cut_model,
    cut_ranks,
    described,
    lattice,
    neural_space,
    own_values,
    within,
)
from taylorank.training import Neural


def test_every_model_has_a_space_of_its_own_parameters():
    for name, kind in MODELS.items():
        space = neural_space(kind()) if name == "neural" else SPACES[name]
        assert set(space) <= set(kind().get_params()), name


@pytest.mark.parametrize("loss", losses.names())
def test_every_loss_has_a_space_that_its_composition_allows(loss):
    space = neural_space(Neural(loss))
    assert {"learning_rate", "regularization"} <= set(space)
    assert ("negatives" in space) == (losses.get(loss).kind == "sampled")
    assert loss != "sml" or "temperature" not in space
    if losses.get(loss).needs_bounded_scores:
        assert None not in space["temperature"].values


def test_newton_has_no_rate_to_tune():
    assert "learning_rate" not in neural_space(Neural("rg2", optimizer="newton"))


@pytest.mark.parametrize("part", [Range(0.1, 5), Range(0.001, 10, log=True), Range(2, 90, log=True, integer=True)])
def test_a_range_stays_inside_and_reaches_its_ends(part):
    rng = np.random.default_rng(0)
    drawn = [part.draw(rng) for _ in range(300)]
    assert min(drawn) >= part.low
    assert max(drawn) <= part.high
    assert part.spread(5)[0] == part.low
    assert part.spread(5)[-1] == part.high
    assert all(isinstance(value, int) for value in drawn) == part.integer
    assert all(part.share(part.at(s)) == pytest.approx(s, abs=0.02) for s in (0.0, 0.3, 1.0))


def test_a_logarithmic_range_gives_each_decade_its_share():
    drawn = [Range(0.01, 100, log=True).draw(np.random.default_rng(seed)) for seed in range(400)]
    assert np.mean(np.array(drawn) < 1) == pytest.approx(0.5, abs=0.1)


def test_lattices_are_in_order():
    assert lattice(Choice((64, 8, 16))) == [8, 16, 64]
    assert lattice(Choice(("lift", "probability"))) == ["lift", "probability"]
    assert lattice(Range(0.2, 1.0)) == pytest.approx(np.arange(2, 11) / 10)
    assert lattice(Range(1, 3, integer=True)) == [1, 2, 3]


def test_a_space_as_json():
    space = {"a": Range(1, 2, log=True), "b": Choice((None, "x"))}
    assert described(space) == {
        "a": {"kind": "range", "low": 1, "high": 2, "log": True, "integer": False},
        "b": {"kind": "choice", "values": [None, "x"]},
    }


@pytest.mark.parametrize(
    "make", [lambda: Range(2, 1), lambda: Range(0, 1, log=True), lambda: Range(0, np.inf), lambda: Choice(())]
)
def test_empty_parts_are_refused(make):
    with pytest.raises(ParameterError):
        make()


@pytest.mark.parametrize("loss", ["uib", "ccl"])
def test_a_search_over_options_begins_at_the_defaults_of_the_loss(loss):
    model = Neural(loss)
    first = within(neural_space(model)["options"], own_values(model)["options"])
    assert first == {name: losses.get(loss).options[name] for name in first}


def test_options_that_are_set_are_the_own_ones():
    assert own_values(Neural("uib", options={"negative_weight": 2.0}))["options"] == {"negative_weight": 2.0}


def test_every_model_with_factors_is_offered_the_same_ranks():
    offered = {name: space["factors"] for name, space in SPACES.items() if "factors" in space}
    assert {"rg2", "rgx", "sampled-rg2", "wrmf", "ials"} <= set(offered)
    assert len(set(offered.values())) == 1
    train = planted(60, 30, interactions=600)
    assert cut_ranks(SPACES["ials"], train)["factors"].values == (8, 16, 30)
    assert cut_ranks({"factors": Range(4, 100, integer=True)}, train) == {"factors": Range(4, 30, integer=True)}
    assert cut_ranks({"factors": Choice(("auto", 100))}, train) == {"factors": Choice(("auto", 100))}


def test_ranks_that_are_not_searched_are_cut_where_more_are_refused():
    train, word = planted(60, 30, interactions=600), "ranks above 30, the smaller side of the data, were cut to it"
    model = RG2(100)
    assert cut_model(model, train).factors == 30
    assert model.factors == 100
    assert cut_lines({}, model, train) == cut_lines({"factors": Choice((20, 31))}, model, train) == [word]
    for same in (RG2(30), WRMF(100), Popularity()):
        assert cut_model(same, train) is same
        assert cut_lines({}, same, train) == []
    assert cut_lines({"factors": Choice((20, 30))}, model, train) == []
