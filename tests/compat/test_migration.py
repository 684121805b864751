"""A script written for implicit runs after one changed line, and gives the same numbers."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest

pytest.importorskip("implicit")

SCRIPT = """
import implicit, implicit.evaluation

import json
import numpy as np
from scipy.sparse import csr_matrix

rng = np.random.default_rng(0)
taste = rng.integers(0, 4, 200)
likes = csr_matrix((rng.random((200, 60)) < np.where(taste[:, None] == np.arange(60) % 4, 0.5, 0.03)).astype("float32"))
train, test = implicit.evaluation.train_test_split(likes, train_percentage=0.8, random_state=1)

model = implicit.als.AlternatingLeastSquares(
    factors=8, regularization=0.1, alpha=2.0, iterations=20, use_cg=False, random_state=3
)
model.fit(2.0 * train, show_progress=False)

ids, scores = model.recommend(7, train[7], N=5)
many, _ = model.recommend(np.arange(50), train[:50], N=10)
near, cosines = model.similar_items(3, N=4)
score, reasons, _ = model.explain(7, 2.0 * train, itemid=int(ids[0]))
new, _ = model.recommend(0, likes[9], N=5, recalculate_user=True)
metrics = implicit.evaluation.ranking_metrics_at_k(model, train, test, K=10, show_progress=False)
knn = implicit.nearest_neighbours.BM25Recommender(K=10)
knn.fit(train, show_progress=False)
found, weights = knn.recommend(7, train[7], N=5)
print(json.dumps({
    "ids": ids.tolist(), "scores": scores.tolist(), "many": many.tolist(), "near": near.tolist(),
    "cosines": cosines.tolist(), "score": score, "reasons": [int(i) for i, _ in reasons], "new": new.tolist(),
    "metrics": metrics, "knn": found.tolist(), "weights": weights.tolist(), "kept": train.nnz,
}))
"""
THEIRS, OURS = "import implicit, implicit.evaluation\n", "import taylorank.compat.implicit as implicit\n"


def run(script: str) -> dict:
    made = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        env={"OPENBLAS_NUM_THREADS": "1", "PYTHONPATH": ":".join(filter(None, sys.path))},
    )
    assert made.returncode == 0, made.stderr
    return json.loads(made.stdout)


@pytest.fixture(scope="module")
def both() -> tuple[dict, dict]:
    changed = [(a, b) for a, b in zip(SCRIPT.splitlines(), mine().splitlines(), strict=True) if a != b]
    assert len(changed) == 1
    return run(SCRIPT), run(mine())


def mine() -> str:
    return SCRIPT.replace(THEIRS, OURS)


@pytest.mark.parametrize("name", ["ids", "many", "near", "reasons", "new", "knn", "kept"])
def test_lists_are_the_same(both, name):
    theirs, ours = both
    assert ours[name] == theirs[name]


@pytest.mark.parametrize("name", ["scores", "cosines", "score", "weights"])
def test_numbers_are_the_same_up_to_rounding(both, name):
    theirs, ours = both
    assert np.allclose(ours[name], theirs[name], atol=2e-4)


def test_with_default_settings_the_solvers_differ_and_the_quality_does_not():
    default = SCRIPT.replace("use_cg=False, ", "")
    theirs, ours = run(default)["metrics"], run(default.replace(THEIRS, OURS))["metrics"]
    assert ours == pytest.approx(theirs, rel=0.03)


def test_metrics_are_the_same(both):
    theirs, ours = both
    assert ours["metrics"] == pytest.approx(theirs["metrics"], abs=1e-12)
    assert ours["metrics"]["ndcg"] > 0.3
