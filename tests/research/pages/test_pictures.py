"""Pictures say what formulas and records hold, and can be read in light and dark mode."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

from research.pages.pictures import PICTURES, N, draw, parabola, small_targets, time_to_quality
from research.pages.themed import INK, LINE, SERIES, svg_of
from research.places import HERE, Places


def test_the_parabola_touches_softmax_at_zero_and_is_least_where_the_lift_is():
    rows = parabola(HERE)["layer"][0]["data"]["values"]
    curves = {
        name: {row["o"]: row["loss"] for row in rows if row["curve"] == name} for name in {r["curve"] for r in rows}
    }
    (softmax,) = [curve for name, curve in curves.items() if name == "softmax"]
    (rg2,) = [curve for name, curve in curves.items() if name != "softmax"]
    assert softmax[0.0] == rg2[0.0] == 0
    assert min(rg2, key=rg2.get) == N - 1
    assert softmax[16.0] < softmax[8.0]


def test_the_targets_are_those_of_rg2():
    s = small_targets()
    np.testing.assert_allclose(s.mean(axis=1), 0, atol=1e-12)  # under uniform q the scores of a user have mean 0
    assert set(np.unique(s[0])) == {-1.0, s[0].max()}


def test_time_to_quality_has_every_model_of_the_record(tmp_path):
    rows = time_to_quality(HERE)["data"]["values"]
    record = json.loads((HERE.comparisons / "ml-1m.json").read_text())["summary"]["models"]
    assert {row["ndcg"] for row in rows} <= {one["metrics"]["ndcg@10"]["mean"] for one in record.values()}
    assert len(rows) == len(record) - 1  # popular items take no time to speak of
    assert time_to_quality(Places(tmp_path)) is None


def test_drawn_pictures_are_sound_and_follow_the_mode(tmp_path):
    pytest.importorskip("vl_convert")
    places = Places(tmp_path)
    places.docs.mkdir()
    drawn = draw(places)
    assert set(drawn) == {"parabola", "targets", "spectrum"} <= set(PICTURES)
    for name in drawn:
        text = (places.docs / "pictures" / f"{name}.svg").read_text(encoding="utf-8")
        ElementTree.fromstring(text)
        assert "var(--drawing-ink" in text
        assert "prefers-color-scheme:dark" in text
        assert INK not in text
        assert LINE not in text


def test_a_chart_with_a_background_gets_none():
    pytest.importorskip("vl_convert")
    spec = {"mark": "point", "data": {"values": [{"x": 1}]}, "encoding": {"x": {"field": "x"}}, "background": "white"}
    assert 'fill="white"' not in svg_of(spec)


@pytest.mark.parametrize("colour", SERIES)
@pytest.mark.parametrize("paper", ["#ffffff", "#14181e"])
def test_series_can_be_told_from_the_page(colour, paper):
    bright, dark = sorted((luminance(colour), luminance(paper)), reverse=True)
    assert (bright + 0.05) / (dark + 0.05) >= 3


def luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
