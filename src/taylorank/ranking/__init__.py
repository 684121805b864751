"""From scores to ranked lists, and from ranked lists to metrics."""

from typing import Any

from taylorank.errors import warn_caller
from taylorank.ranking.evaluated import EvaluatedUsers, Evaluation
from taylorank.ranking.evaluation import evaluate
from taylorank.ranking.expected_ndcg import regret
from taylorank.ranking.explanation import Explanation, explain
from taylorank.ranking.oracle import Oracle
from taylorank.ranking.protocols import PROTOCOLS, EvaluationProtocol, Prepared, protocol
from taylorank.ranking.ranker import FoldIn, HistoryScores, Rankable, Ranker, Vectors, ranker_of
from taylorank.ranking.recommendations import recommend
from taylorank.ranking.shortlist import Shortlist
from taylorank.ranking.similarity import similar_items, similar_users

__all__ = [
    "PROTOCOLS",
    "EvaluatedUsers",
    "Evaluation",
    "EvaluationProtocol",
    "Explanation",
    "FoldIn",
    "HistoryScores",
    "Oracle",
    "Prepared",
    "Rankable",
    "Ranker",
    "Shortlist",
    "Vectors",
    "evaluate",
    "explain",
    "protocol",
    "ranker_of",
    "recommend",
    "regret",
    "similar_items",
    "similar_users",
]


def __getattr__(name: str) -> Any:
    if name == "Scorer":  # its name before it was a property `ranker`
        warn_caller("ranking.Scorer is deprecated; write ranking.Rankable", DeprecationWarning)
        return Rankable
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
