"""The words of a report, those that it uses."""

from __future__ import annotations

from taylorank.metrics import split_metric
from taylorank.report.numbers import metric_label
from taylorank.report.record import Record

METRICS = {
    "ndcg": "how high the list has the items that the user took: 1 if all of them come first, less the lower they are",
    "dcg": "the sum over the items that the user took of 1 / log₂(place + 1)",
    "recall": "the share of the items that the user took that the list has",
    "recall_min": "the hits over the most hits that the list has room for",
    "precision": "the share of the list that the user took",
    "precision_min": "the hits over the most hits that list and history allow",
    "map": "the mean of the precision at every hit, over all items that the user took",
    "map_min": "the mean of the precision at every hit, over the hits that the list has room for",
    "mrr": "1 / the place of the first hit",
    "hit_rate": "the share of the users with at least one hit",
    "auc": "how often an item that the user took is ranked above one that the user did not",
    "coverage": "the share of all items that are in any list",
    "novelty": "how rare the recommended items are in the training data",
    "popularity": "how popular the recommended items are in the training data",
    "gini": "how unequally the lists share out the items: 0 if all come equally often, towards 1 if one takes all",
    "ece": "how far predicted probabilities are from what happened",
    "ece_width": "the same over bins of equal width",
}
ALWAYS = {
    "Seed": "a repetition with another random split of the data; everything is tuned, fitted and tested anew",
    "Training, validation and test data": "parts of each user's interactions: to fit, to choose parameters, and to "
    "measure once at the end",
    "Trial": "one setting of the parameters, judged on the validation data",
    "Fit": "one run of the solver or optimiser; a model with a path judges many settings on one fit",
    "± and interval": "where the mean would be with other users like these, in 95 of 100 cases (bootstrap over users)",
    "†": "significantly below the best: chance alone would seldom make such a difference",
}


def glossary(record: Record) -> list[tuple[str, str]]:
    """Return (word, meaning) of the metrics that the report shows, and of the words that every report uses."""
    shown = dict.fromkeys(split_metric(metric)[0] for metric in record["settings"]["metrics"])
    metrics = [(metric_label(name) + ("@k" if name != "auc" else ""), METRICS[name]) for name in shown]
    return [("@k", "of the list of the k best items"), *metrics, *ALWAYS.items()]
