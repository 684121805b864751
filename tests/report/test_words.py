"""Sentences from numbers."""

from __future__ import annotations

from taylorank.metrics import NAMES
from taylorank.report.charts import convergence, log_ticks, models_in
from taylorank.report.glossary import METRICS, glossary
from taylorank.report.series import series_of
from taylorank.report.tables import convergence_table, summary_table
from taylorank.report.words import further_sentences, lead_sentence, mark_words


def test_how_sure_it_is(record):
    models = record["summary"]["models"]
    models["ials"]["versus_best"]["ndcg@10"]["p_holm"] = 0.01
    assert "better than all others" in lead_sentence(record)
    for name in ("ials", "ease", "popularity"):
        models[name]["versus_best"]["ndcg@10"]["p_holm"] = 0.2
    assert "not significantly better than any other" in lead_sentence(record)
    models["popularity"]["versus_best"]["ndcg@10"]["p_holm"] = 0.04
    assert "better than all but IALS and EASE" in lead_sentence(record)
    del models["ials"]["versus_best"]["ndcg@10"]
    said = "significantly better than Popularity, not than EASE; no test of significance was made against IALS"
    assert said in lead_sentence(record)
    assert not any("Not tested" in sentence for sentence in further_sentences(record))
    untested = {"difference": -0.1, "low": None, "high": None, "p": None, "p_holm": None}
    models["ials"]["versus_best"]["ndcg@10"] = untested
    assert said in lead_sentence(record)
    assert any(sentence.startswith("Not tested against the best: IALS,") for sentence in further_sentences(record))
    for name in ("ease", "popularity"):
        models[name]["versus_best"]["ndcg@10"] = untested
    assert "IALS follows, no test of significance was made;" in lead_sentence(record)


def test_two_models(record):
    for name in ("ease", "popularity"):
        del record["models"][name]
    assert "not significantly above IALS" in lead_sentence(record)
    record["summary"]["models"]["ials"]["versus_best"]["ndcg@10"]["p_holm"] = 0.01
    assert "significantly better than IALS;" in lead_sentence(record)


def test_other_winners_speed_spread_and_failures(record):
    models = record["summary"]["models"]
    models["ease"]["metrics"]["mrr@10"]["mean"] = models["ease"]["metrics"]["recall@20"]["mean"] = 0.9
    models["rg2"]["fit_seconds"] = 10 * models["ials"]["fit_seconds"]
    models["ials"]["metrics"]["ndcg@10"]["seed_sd"] = 0.02
    said = further_sentences(record)
    assert said == [
        "Other metrics have other winners: EASE on MRR@10 and Recall@20.",
        "IALS reaches 99 % of that in a 10th of the time.",
        "Unsteady from seed to seed: IALS (standard deviation 0.0200); more trials or more seeds would tell more.",
        "Failed: Broken <b>& co (2 of 2 runs).",
    ]


def test_every_model_looks_different(record):
    record["models"] = {f"m{i}": {"label": f"m{i}"} for i in range(60)}
    looks = [(one.colour, one.shape, tuple(one.dash)) for one in series_of(record)]
    assert len(set(looks)) == 60
    first = series_of(record)[:5]
    for part in ("colour", "shape"):
        assert len({getattr(one, part) for one in first}) == 5


def test_ticks_cover_the_values():
    for low, high in ((0.003, 5000.0), (0.3, 0.4), (1, 100), (7.0, 7.0)):
        ticks = log_ticks(low, high)
        assert 1 <= len(ticks) <= 9
        assert ticks[0] <= low * 1.0001
        assert ticks[-1] >= high * 0.9999


def test_the_mark_is_explained_by_the_test_that_was_made(record):
    """Records of before have Holm's p, which does not allow for the choice of the best; captions say so."""
    assert "after Holm's correction, which does not allow for choosing the best" in mark_words(record)
    models = record["summary"]["models"]
    for name in ("ials", "ease", "popularity"):
        for test in models[name]["versus_best"].values():
            test["p_adjusted"] = test.pop("p_holm")
    said = mark_words(record)
    assert "adjusted for all pairs of models" in said
    assert "Holm" not in said
    assert "significantly better than all but IALS" in lead_sentence(record)
    models["ease"]["versus_best"]["ndcg@10"] = {"difference": -0.1, "low": -0.2, "high": 0.0, "p": 0.04, "p_holm": 0.04}
    assert "all pairs of models" in mark_words(record)
    assert "; or sign-flip test over users, p < 0.05 after Holm's correction" in mark_words(record)
    for found in models.values():
        found.pop("versus_best", None)
    assert mark_words(record) == ""


def test_a_model_looks_the_same_whatever_it_is_compared_with(record):
    def looks(names):
        record["models"] = {name: {"label": name} for name in names}
        return {one.name: (one.colour, one.shape, one.dash) for one in series_of(record)}

    alone, many = looks(["ease", "mine"]), looks(["rg2", "mine", "popularity", "ease", "itemknn"])
    assert alone["ease"] == many["ease"]
    assert looks(["RG2"])["RG2"] == many["rg2"]


def test_models_that_show_the_same_number_are_both_bold(record):
    models = record["summary"]["models"]
    models["ials"]["metrics"]["ndcg@10"]["mean"] = models["rg2"]["metrics"]["ndcg@10"]["mean"] - 1e-6
    rows = summary_table(record, series_of(record)).rows
    assert [row[0].text for row in rows if row[1].is_best] == ["RG2", "IALS"]


def test_a_fit_in_one_step_is_not_on_the_axis_of_steps(record):
    ease = next(run for run in record["runs"] if run["model"] == "ease" and run.get("convergence"))
    ease["convergence"] = [{"step": 7390, "seconds": 2.0, "value": 0.2}]
    shown = convergence(record, series_of(record), against="step")
    assert models_in(shown) == {"IALS"}
    assert "EASE" in models_in(convergence(record, series_of(record), against="seconds"))
    cells = [[cell.text for cell in row] for row in convergence_table(record).rows]
    assert ["EASE", "–", "2.0 s", "0.2000"] in cells


def test_the_glossary_has_the_metrics_of_the_report(record):
    words = dict(glossary(record))
    assert {"NDCG@k", "Recall@k", "MRR@k", "Seed", "†"} <= words.keys()
    assert "Precision@k" not in words
    assert set(METRICS) == set(NAMES)
