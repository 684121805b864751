"""Results at a prompt, in a notebook, as tables and as charts."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

import taylorank as tr
from taylorank.errors import ParameterError
from taylorank.selection.shown import SHOWN, effort_words, ranked, telling

DATA = tr.planted(120, 60, interactions=2500, random_state=2)
TRAIN, VALID = DATA.split((0.8, 0.2))


@pytest.fixture(scope="module")
def tuned():
    return tr.tune("rg2", TRAIN, VALID, trials=6)


@pytest.fixture(scope="module")
def compared():
    return tr.compare(DATA, ["rg2", "ease", "popularity"], seeds=(0,), trials=2, seconds=5)


def test_the_result_of_tuning_fits_a_screen_and_begins_with_what_was_chosen(tuned):
    lines = str(tuned).splitlines()
    assert len(lines) <= 24
    assert lines[0] == f"rg2: ndcg@10 {tuned.value:.4f} on validation data"
    assert lines[1].startswith("chosen: ")
    for name, value in tuned.best.items():
        shown = f"{value:.4g}" if isinstance(value, float) else str(value)
        assert f"{name} {shown}" in lines[1]
    assert repr(tuned) == str(tuned)


def test_trials_are_told_by_what_differs_between_them(tuned):
    """What is the same in all of them is among the chosen parameters, two lines above."""
    best = ranked(tuned)[:SHOWN]
    lines = str(tuned).split("the best trials:\n")[1].splitlines()[: len(best)]
    for name in tuned.best:
        differs = len({str(trial.params[name]) for trial in best}) > 1
        assert all((name in line) == differs for line in lines), name
    same = [SimpleNamespace(params={"factors": 8})] * 2
    assert telling(same) == ["factors"]


@pytest.mark.parametrize(("trials", "fits", "words"), [(1440, 1, "1,440 trials on 1 fit"), (1, 2, "1 trial on 2 fits")])
def test_the_effort_of_a_search_is_in_numbers_that_people_write(trials, fits, words):
    found = SimpleNamespace(trials=[None] * trials, fits=fits, seconds=2.0, method="by hand")
    assert effort_words(found) == f"{words} in 2.0 s: by hand"


@pytest.mark.parametrize("library", ["polars", "pandas", "pyarrow"])
def test_results_are_tables_of_every_library(library, tuned, compared):
    import narwhals as nw

    model = tr.RG2(4).fit(TRAIN)
    scores = tr.evaluate(model, VALID, per_user=True)
    frames = {
        "trials": (tuned.to_frame(library), len(tuned.trials)),
        "models": (compared.to_frame(library), 3 * len(compared.record["settings"]["metrics"])),
        "users": (scores.to_frame(library), scores.users.evaluated),
        "reasons": (model.explain(0, 5, 3).to_frame(library), 3),
        "lists": (model.recommend([3, 4], n=5, as_frame=library), 10),
    }
    for name, (native, rows) in frames.items():
        frame = nw.from_native(native)
        assert frame.implementation.name.lower() == library, name
        assert len(frame) == rows, name
    for kind, key in (("items", "item"), ("users", "user")):
        similar = getattr(model, f"similar_{kind}")
        near = nw.from_native(similar([3, 4], n=5, as_frame=library))
        assert near.implementation.name.lower() == library
        assert near.columns == [key, "rank", "similar", "similarity"]
        assert near["similar"].to_list() == similar([3, 4], n=5)[0].ravel().tolist()
    assert len(tr.EASE().fit(TRAIN).similar_items([3], n=4, as_frame=library)) == 4
    lists = nw.from_native(frames["lists"][0])
    assert lists.columns == ["user", "rank", "item", "score"]
    assert lists["item"].to_list() == model.recommend([3, 4], n=5)[0].ravel().tolist()
    assert nw.from_native(frames["trials"][0])["value"].max() == tuned.value


def test_lists_as_a_table_have_text_ids_and_no_padding():
    data = tr.Interactions.from_arrays(["a", "a", "b", "b", "c"], ["x", "y", "y", "z", "x"])
    frame = tr.RG2(2).fit(data).recommend(["a", "c"], n=5, as_frame="polars")
    assert frame.filter(frame["user"] == "a")["item"].to_list() == ["z"]
    assert frame["rank"].to_list() == [1, 1, 2]
    with pytest.raises(ParameterError, match="library='arrow' is unknown"):
        tr.RG2(2).fit(data).recommend(["a"], as_frame="arrow")


def test_the_library_in_use_is_the_default(monkeypatch):
    import sys

    from taylorank.data.frames import library_of

    monkeypatch.setitem(sys.modules, "pandas", object())
    assert library_of(True) == library_of(None) == "pandas"
    monkeypatch.delitem(sys.modules, "pandas")
    assert library_of(True) == "polars"


def test_the_text_of_a_comparison_has_every_model_in_columns(compared):
    lines = str(compared).splitlines()
    table = [line for line in lines if line.startswith(("Model", "RG2", "EASE", "Popularity ")) and "  " in line]
    assert len(table) == 4
    assert len({len(line) for line in table}) <= 2  # columns are aligned; a mark may stand behind the last
    assert "is best on NDCG@10" in lines[0]


def test_notebooks_show_tables_that_escape_their_text(tuned, compared):
    odd = tr.Interactions.from_arrays(["<b>", "u"], ["<script>", "i"])
    model = tr.RG2(1).fit(odd)
    best = tr.fit_best(DATA, seconds=1, quiet=True).selection_
    shown = [DATA, odd, model, tr.RG2(), tr.Distilled(), tuned, compared, best, tr.evaluate(model, odd, seen=[])]
    for one in [*shown, model.explain("<b>", "<script>")]:
        html = one._repr_html_()
        assert html.count("<table>") == html.count("</table>") >= 1
        assert "<script>" not in html
        assert "<b>" not in html
    assert "120" in DATA._repr_html_()
    assert "fitted to 2 users" in model._repr_html_()
    assert "not fitted" in tr.RG2()._repr_html_()


@pytest.mark.parametrize("kind", ["forest", "trade-off", "by-cutoff", "by-popularity", "tuning"])
def test_charts_are_altair_charts_without_variables_of_a_page(compared, kind):
    pytest.importorskip("altair")
    spec = compared.plot(kind).to_json()
    assert "var(--" not in spec
    assert "RG2" in spec


def test_the_chart_of_tuning_has_every_trial(tuned):
    pytest.importorskip("altair")
    spec = tuned.plot().to_dict()
    values = spec["data"]["values"]
    assert len(values) == len(tuned.trials)
    assert values[-1]["best so far"] == max(trial.value for trial in tuned.trials)


def test_unknown_charts_are_refused(compared):
    pytest.importorskip("altair")
    with pytest.raises(ParameterError, match="choose from forest"):
        compared.plot("pie")
