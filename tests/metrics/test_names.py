from __future__ import annotations

import re
from pathlib import Path

import pytest

from taylorank.errors import ParameterError
from taylorank.metrics import DEFAULT, NAMES, wanted_metrics

PAGE = Path(__file__).resolve().parents[2] / "docs" / "metrics.md"


def test_names_and_cutoffs():
    assert [str(w) for w in wanted_metrics("recall", 5)] == ["recall@5"]
    assert [str(w) for w in wanted_metrics(("auc", "ndcg", "ndcg@10"), (20, 10))] == ["ndcg@10", "ndcg@20", "auc"]
    assert [str(w) for w in wanted_metrics(DEFAULT, (10, 20))][:7] == [*(f"{n}@10" for n in DEFAULT), "ndcg@20"]


@pytest.mark.parametrize("text", ["nothing", "ndcg@0", "ndcg@ten", "ndcg@", "ndcg@-1", "ndcg@1.5", "auc@10", "", "@5"])
def test_what_is_no_metric_is_refused(text):
    with pytest.raises(ParameterError):
        wanted_metrics((text,), 10)


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
