"""Ranking metrics, from ranked lists."""

from taylorank.metrics.ranked import METRICS, hit_rate, map, mrr, ndcg, precision, recall

__all__ = ["METRICS", "hit_rate", "map", "mrr", "ndcg", "precision", "recall"]
