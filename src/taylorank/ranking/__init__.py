"""From scores to ranked lists, and from ranked lists to metrics."""

from taylorank.ranking.evaluate import evaluate
from taylorank.ranking.evaluation import EvaluatedUsers, Evaluation
from taylorank.ranking.oracle import Oracle
from taylorank.ranking.protocol import PROTOCOLS, EvaluationProtocol, Prepared, protocol
from taylorank.ranking.recommend import recommend
from taylorank.ranking.regret import regret
from taylorank.ranking.scorer import Scorer
from taylorank.ranking.shortlist import Shortlist
from taylorank.ranking.top_k import top_k

__all__ = [
    "PROTOCOLS",
    "EvaluatedUsers",
    "Evaluation",
    "EvaluationProtocol",
    "Oracle",
    "Prepared",
    "Scorer",
    "Shortlist",
    "evaluate",
    "protocol",
    "recommend",
    "regret",
    "top_k",
]
