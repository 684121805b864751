"""Shortlists give the value of full evaluation wherever they hold what a model ranks best."""

from __future__ import annotations

import numpy as np
import pytest

import taylorank as tr
from taylorank.metrics import CHOOSING, METRICS, Judged
from taylorank.ranking import Shortlist


@pytest.fixture(scope="module")
def parts():
    return tr.planted(150, 90, interactions=4000, random_state=5).split()


@pytest.mark.parametrize("metric", CHOOSING)
@pytest.mark.parametrize("k", [1, 10, 200])
def test_with_all_items_it_is_full_evaluation(parts, metric, k):
    train, valid, _ = parts
    first, other = tr.RG2(factors=4).fit(train), tr.RG2(factors=9, proposal_exponent=0.2).fit(train)
    shortlist = Shortlist(first, valid, length=90)
    for model in (first, other):
        full = tr.evaluate(model, valid, metrics=f"{metric}@{k}")[f"{metric}@{k}"]
        assert shortlist.evaluate(model, metric=metric, k=k) == pytest.approx(full, abs=1e-6)


def test_a_short_list_still_judges_its_own_model_rightly(parts):
    train, valid, test = parts
    model = tr.RG2(factors=4).fit(train)
    seen = [train, valid]
    shortlist = Shortlist(model, test, seen=seen, length=10)
    full = tr.evaluate(model, test, k=10, seen=seen, metrics=CHOOSING)
    for name in CHOOSING:
        assert shortlist.evaluate(model, metric=name, k=10) == pytest.approx(full[f"{name}@10"], abs=1e-6)


def test_another_model_is_ranked_within_the_lists(parts):
    train, valid, _ = parts
    first, other = tr.RG2(factors=4).fit(train), tr.RG2(factors=9, proposal_exponent=0.0).fit(train)
    shortlist = Shortlist(first, valid, length=12)
    scores, hits, relevant = other.scores(np.arange(150)), [], []
    for row in range(150):
        wanted = valid.items_of(row)
        if len(wanted):
            allowed = first.recommend([row], 12)[0][0]
            best = sorted(allowed[allowed >= 0], key=lambda item: -scores[row, item])[:5]
            hits.append([item in wanted for item in best])
            relevant.append(len(wanted))
    expected = METRICS["ndcg"](Judged(np.array(hits), np.array(relevant))).mean()
    assert shortlist.evaluate(other, metric="ndcg", k=5) == pytest.approx(expected, abs=1e-6)
