"""The page of students: means over seeds, the best of a row, what was not measured is left out."""

from __future__ import annotations

import json

import taylorank as tr
from research.pages.students import chart, numbers_an_item, others_text, per_byte_text, points, public_text, ranges_text
from research.places import HERE

RECORD = json.loads((HERE.records / "students" / "students.json").read_text(encoding="utf-8"))


def model(recall, ndcg, **others):
    return {"test": {"recall@20": recall, "ndcg@20": ndcg, "ndcg@10": ndcg}, "fit_s": 1.0, **others}


def part(**models):
    best = {"temperature": 0.07, "steps": 10, "value": 0.1}
    return {"models": models, "best": best, "trials": [{"factors": 64}], "held_back": "a tenth"}


def test_seeds_are_averaged_and_the_temperature_is_that_of_the_fit():
    own = part(**{"student 64": model(0.2, 0.1, settings={"temperature": 0.1})})
    own["seeds"] = {"1": {"student 64": model(0.4, 0.3)}}
    text = public_text({"public/gowalla/0": own})
    assert "| **student, K = 64** | 0.3000 ± 0.1414 / 0.2000 ± 0.1414 | – |" in text
    assert "temperature 0.1, steps 10" in text


def test_the_best_of_a_set_stands_out():
    text = others_text({"others/x/0": part(rg2=model(0, 0.2), ease=model(0, 0.3))})
    assert "| x | a tenth | 1 | – | 0.2000 | **0.3000** | – |" in text


def test_what_was_not_measured_has_no_row_and_no_point():
    with_bias = {"settings": {"bias": True}}
    parts = {"public/gowalla/0": part(**{"student 16": model(0.2, 0.1, **with_bias)})}
    assert "| student | 16 | 68 | 0.2000 / 0.1000 | – |" in per_byte_text(parts)
    assert "| student | 8 |" not in per_byte_text(parts)
    assert [point["numbers"] for point in points(parts) if point["model"] == "student"] == [17]
    student = model(0.1, 0.05, settings={"bias": False})
    further = {**parts, "bytes/gowalla/0": part(**{"student 8": student, "rg2 8": model(0.05, 0.02)})}
    assert "| student | 8 | 32 | 0.1000 / 0.0500 | – |" in per_byte_text(further)
    assert "| RG² | 8 | 36 | 0.0500 / 0.0200 | – |" in per_byte_text(further)
    assert sorted(point["numbers"] for point in points(further) if point["model"] == "student") == [8, 17]


def test_the_numbers_an_item_are_those_that_are_exported():
    data = tr.planted(60, 30, interactions=600)
    rg2 = tr.RG2(8).fit(data)
    for model_of, name in ((rg2, "rg2 8"), (rg2.distil(4, steps=3), "student 4")):
        assert numbers_an_item(name, {"settings": model_of.get_params()}) == model_of.export_factors()[1].shape[1]


def test_the_figure_has_a_panel_for_each_set():
    spec = chart(points(RECORD["parts"]))
    assert spec["facet"]["column"]["field"] == "set"


def test_ranges_say_on_how_many_sets_a_value_was_good():
    fixed = {
        "ranges": {"a": [1]},
        "good_on": {"a": {"1": ["x", "y"], "2": []}},
        "sets": ["x", "y"],
        "rule": "Return it.",
    }
    assert "| `a` | 1 | 1: 2, 2: 0 |" in ranges_text(fixed)
