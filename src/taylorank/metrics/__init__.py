"""Ranking metrics: of one user's list, of all lists together, of the whole ranking, of stated probabilities."""

from taylorank.metrics.bootstrap import bootstrap_means, percentile_interval, weighted_mean
from taylorank.metrics.calibration import Reliability, calibration_error, listed_probability, reliability
from taylorank.metrics.catalogue import CATALOGUE_METRICS, coverage, gini
from taylorank.metrics.judged import GAINS, Gain, Judged, gain_of
from taylorank.metrics.names import (
    CALIBRATION,
    CHOOSING,
    DEFAULT,
    NAMES,
    Wanted,
    choosing_metric,
    parse_metric,
    wanted_metrics,
)
from taylorank.metrics.ranked import (
    METRICS,
    WEIGHTS,
    dcg,
    hit_rate,
    map,
    map_min,
    mrr,
    ndcg,
    novelty,
    popularity,
    precision,
    precision_min,
    recall,
    recall_min,
)
from taylorank.metrics.roc import auc

__all__ = [
    "CALIBRATION",
    "CATALOGUE_METRICS",
    "CHOOSING",
    "DEFAULT",
    "GAINS",
    "METRICS",
    "NAMES",
    "WEIGHTS",
    "Gain",
    "Judged",
    "Reliability",
    "Wanted",
    "auc",
    "bootstrap_means",
    "calibration_error",
    "choosing_metric",
    "coverage",
    "dcg",
    "gain_of",
    "gini",
    "hit_rate",
    "listed_probability",
    "map",
    "map_min",
    "mrr",
    "ndcg",
    "novelty",
    "parse_metric",
    "percentile_interval",
    "popularity",
    "precision",
    "precision_min",
    "recall",
    "recall_min",
    "reliability",
    "wanted_metrics",
    "weighted_mean",
]
