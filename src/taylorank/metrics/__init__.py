"""Ranking metrics: of one user's list, of all lists together, of the whole ranking, of stated probabilities."""

from taylorank.metrics.auc import auc
from taylorank.metrics.bootstrap import bootstrap_means, percentile_interval, weighted_mean
from taylorank.metrics.calibration import Reliability, calibration_error, listed_probability, reliability
from taylorank.metrics.catalogue import CATALOGUE_METRICS, coverage, gini
from taylorank.metrics.judged import GAINS, Gain, Judged, gain_of
from taylorank.metrics.names import CALIBRATION, CHOOSING, DEFAULT, NAMES, Wanted, wanted_metrics
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
