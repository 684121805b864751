"""Small planted data, as interactions and as a DataFrame, and lists of both kinds of model side by side."""

from __future__ import annotations

from typing import Any

import numpy as np

import taylorank as tr


def frame_of(spark: Any, data: tr.Interactions, *, columns: tuple[str, ...] = ("user", "item")) -> Any:
    """The interactions as a DataFrame."""
    return spark.createDataFrame(data.to_frame("pyarrow").select(list(columns)))


def with_strengths(data: tr.Interactions, seed: int = 0) -> tr.Interactions:
    """The same pairs with strengths of 0.5 to 4 in steps of 0.5."""
    table = data.to_frame()
    rng = np.random.default_rng(seed)
    return tr.Interactions.from_arrays(
        table["user"].to_numpy(), table["item"].to_numpy(), strengths=rng.integers(1, 9, len(table)) / 2
    )


def lists_of(frame: Any, key: str = "user", item: str = "item") -> dict[Any, list[tuple[Any, float]]]:
    """Recommendations by id."""
    return {row[key]: [(pair[item], pair["rating"]) for pair in row["recommendations"]] for row in frame.collect()}


def agreement(local: Any, found: dict[Any, list[tuple[Any, float]]], n: int = 10) -> tuple[float, float]:
    """The share of users whose lists are the same, and the largest relative difference of scores in the same place."""
    users = sorted(found)
    ids, scores = local.recommend(users, n=n)
    same, error = 0, 0.0
    for row, user in enumerate(users):
        same += [item for item, _ in found[user]] == ids[row].tolist()[: len(found[user])]
        values = np.array([score for _, score in found[user]])
        error = max(error, float(np.abs(values / scores[row][: len(values)] - 1).max()))
    return same / len(users), error
