"""The settings of `taylorank run` are those that validation data of other seeds chose."""

from __future__ import annotations

import inspect
import json

import numpy as np
import pytest

from research.bench.quality.run_grid import SEEDS, WIDE, WIDTHS, chosen, describe, planted_as_run
from research.places import HERE
from taylorank.cli import run as run_command
from taylorank.models import RG2, RGX


@pytest.fixture(scope="module")
def record():
    return json.loads((HERE.records / "bench" / "run_grid.json").read_text(encoding="utf-8"))


def test_the_command_searches_what_the_record_chose(record):
    spaces = {"RG2": run_command.RG_SPACE, "IALS": run_command.IALS_SPACE}
    for name, space in spaces.items():
        grid = {key: tuple(values) for key, values in record["models"][name]["grid"].items()}
        assert {key: choice.values for key, choice in space.items()} == grid
    assert len(describe(record)) == len(spaces)


def test_the_default_seed_took_no_part(record):
    default = inspect.signature(run_command.run).parameters["seed"].default
    assert record["seeds"] == list(SEEDS)
    assert default not in record["seeds"]
    assert f"{SEEDS[0]} to {SEEDS[-1]}" == run_command.GRID_SEEDS


def test_the_data_are_those_of_the_command():
    defaults = {name: one.default for name, one in inspect.signature(run_command.run).parameters.items()}
    used = {name: one.default for name, one in inspect.signature(planted_as_run).parameters.items()}
    assert [used["n_users"], used["n_items"], used["interactions"]] == [
        defaults[name] for name in ("users", "items", "interactions")
    ]
    assert defaults["core"] == 5


def test_neighbouring_values_around_the_best_are_chosen():
    wide = WIDE["RG2"]
    values = np.zeros((2, *map(len, wide.values())))
    values[0, 4, 3, 6] = 1.0
    values[1, 3, 2, 3] = 0.5
    grid, reached = chosen(wide, values)
    assert {name: len(axis) for name, axis in grid.items()} == {name: WIDTHS[name] for name in wide}
    assert grid["proposal_exponent"] == wide["proposal_exponent"][2:]
    assert grid["factors"] == wide["factors"][2:4]
    assert grid["regularization"] == wide["regularization"][3:]
    assert reached == 0.75


def test_rgx_has_the_solution_of_rg2():
    """What the command says in place of a row."""
    data = planted_as_run(3, 150, 80, 3000)
    lists = [kind(8, tolerance=0).fit(data).recommend(data.users.values, n=10)[0] for kind in (RG2, RGX)]
    assert np.array_equal(*lists)
