from __future__ import annotations

import re
from pathlib import Path

import pytest

from taylorank.errors import ParameterError
from taylorank.metrics import CHOOSING, DEFAULT, NAMES, choosing_metric, parse_metric, wanted_metrics

PAGE = Path(__file__).resolve().parents[2] / "docs" / "metrics.md"


def test_names_and_cutoffs():
    assert [str(w) for w in wanted_metrics("recall", 5)] == ["recall@5"]
    assert [str(w) for w in wanted_metrics(("auc", "ndcg", "ndcg@10"), (20, 10))] == ["ndcg@10", "ndcg@20", "auc"]
    assert [str(w) for w in wanted_metrics(DEFAULT, (10, 20))][:7] == [*(f"{n}@10" for n in DEFAULT), "ndcg@20"]


@pytest.mark.parametrize("text", ["nothing", "ndcg@0", "ndcg@ten", "ndcg@", "ndcg@-1", "ndcg@1.5", "auc@10", "", "@5"])
def test_what_is_no_metric_is_refused(text):
    with pytest.raises(ParameterError):
        wanted_metrics((text,), 10)
    with pytest.raises(ParameterError):
        parse_metric(text)
    with pytest.raises(ParameterError):
        choosing_metric(text)


def test_what_chooses_is_a_metric_of_quality_with_a_cutoff():
    for name in NAMES:
        text = name if name == "auc" else f"{name}@7"
        assert parse_metric(text).may_choose == (name in CHOOSING), name
        assert str(parse_metric(text)) == text
    assert [str(choosing_metric(f"{name}@7")) for name in CHOOSING] == [f"{name}@7" for name in CHOOSING]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("ndcg", "'ndcg' has no cutoff; write ndcg@10"),
        ("ece@10", "lower is better for ece; choose from ndcg@10"),
        ("gini@10", "lower is better for gini"),
        ("auc", "models are not chosen by auc"),
        ("coverage@10", "models are not chosen by coverage"),
    ],
)
def test_what_does_not_choose_is_refused_with_the_reason(text, words):
    with pytest.raises(ParameterError, match=words):
        choosing_metric(text)


@pytest.mark.parametrize("k", [(), 0, (10, -1), (1.5,), (True,), "10"])
def test_what_is_no_cutoff_is_refused(k):
    with pytest.raises(ParameterError, match="cutoff"):
        wanted_metrics("ndcg", k)


def test_no_metric_at_all_is_refused():
    with pytest.raises(ParameterError, match="no metric is named"):
        wanted_metrics((), 10)


def test_the_page_defines_every_metric():
    defined = re.findall(r"^\| `(\w+)(?:@k)?` \|", PAGE.read_text(), re.MULTILINE)
    assert sorted(defined) == sorted(NAMES)
