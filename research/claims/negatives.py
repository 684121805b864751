"""How many negatives: sampled softmax and NCE in training, on planted data."""

from __future__ import annotations

from typing import Any

import numpy as np

from research.claims.claim import Claim, Figure, Judgement, Numbers, decide
from research.papers import SUMMARY_2025, SUMMARY_2026
from taylorank.data import Interactions

GROUP = "Suggested experiments"


def by_negatives(seed: int, *, counts: tuple[int, ...] = (1, 8, 64), slow: float = 1.0) -> Numbers:
    """Expected NDCG@10 by number of draws, mean over two data sets; `slow` divides the learning rates of NCE."""
    from research.claims.trained import best_fit, expected_ndcg, parts

    worlds = [parts(seed + i, users=200, items=100, interactions=4000) for i in range(2)]
    found: Numbers = {"draws": list(counts)}
    for name in ("sampled-softmax-all", "nce"):
        rates = (0.1 / (slow if name == "nce" else 1.0),)
        settings = {"rates": rates, "batch_size": 500, "epochs": 12, "random_state": seed}
        found[name] = [
            float(np.mean([expected_ndcg(best_fit(name, data, negatives=count, **settings), data) for data in worlds]))  # type: ignore[arg-type]
            for count in counts
        ]
    return found


def by_negatives_on_movielens(seed: int, *, counts: tuple[int, ...] = (1, 8, 64), epochs: int = 15) -> Numbers:
    """Test NDCG@10 on ML-1M by number of draws, with the best of three learning rates on validation data."""
    from research.claims.trained import best_fit
    from taylorank.ranking.protocols import protocol

    parts = protocol("papers").prepare(cleaned("ml-1m"), seed)
    found: Numbers = {"draws": list(counts)}
    how: Numbers = {"factors": 32, "batch_size": 8192, "epochs": epochs, "device": "auto"}
    for name in ("sampled-softmax-all", "nce"):
        models = (best_fit(name, (parts.train, parts.valid), negatives=count, **how) for count in counts)
        found[name] = [parts.evaluate(model, "test", metrics="ndcg@10")["ndcg@10"] for model in models]
    return found


def judge_ceiling(n: Numbers) -> Judgement:
    """Printed: NCE ends below and no longer gains, while sampled softmax does. Corrected: NCE ends below."""
    soft, nce = n["sampled-softmax-all"], n["nce"]
    last = [values[-1] / values[-2] - 1 for values in (soft, nce)]
    below = nce[-1] < 0.97 * soft[-1]
    return Judgement(
        decide(below and last[0] > 0.02 > last[1], below),
        f"for {', '.join(map(str, n['draws']))} draws the test NDCG@10 is {_row(soft)} with sampled softmax and "
        f"{_row(nce)} with NCE; the last step gains {last[0]:+.1%} and {last[1]:+.1%}",
    )


def _row(values: list[float]) -> str:
    return ", ".join(f"{value:.4f}" for value in values)


def cleaned(name: str) -> Interactions:
    """Return a data set as the papers clean it, from NAME-paper.npz in a data folder if it is there.

    `taylorank datasets get NAME --cleaning paper --out NAME-paper.npz` writes that file for machines where little is
    installed.
    """
    from taylorank.data import datasets
    from taylorank.data.datasets.places import data_folders

    files = (folder / f"{name}-paper.npz" for folder in data_folders())
    ready = next((file for file in files if file.is_file()), None)
    return datasets.get(name, cleaning="paper") if ready is None else Interactions.load_npz(ready)


def judge_negatives(n: Numbers) -> Judgement:
    """A ceiling: with many draws NCE ends clearly below sampled softmax."""
    soft, nce = n["sampled-softmax-all"], n["nce"]
    return Judgement(
        decide(nce[-1] < 0.97 * soft[-1]),
        f"from {n['draws'][0]} to {n['draws'][-1]} draws the expected NDCG@10 goes from {soft[0]:.3f} to "
        f"{soft[-1]:.3f} with sampled softmax and from {nce[0]:.3f} to {nce[-1]:.3f} with NCE",
    )


def from_other_factors(seed: int, *, start: str = "softmax", sweeps: int = 60) -> Numbers:
    """Sweeps of RG² by ALS from random factors and from those of softmax, or of the solution itself."""
    from research.claims.trained import best_fit, expected_ndcg, parts
    from taylorank.models import RG2

    settings: Numbers = {"factors": 8, "regularization": 0.2}
    by_sweeps: Numbers = {**settings, "solver": "als", "tolerance": 0.0, "iterations": sweeps}
    found: dict[str, list[Numbers]] = {"random": [], "other": []}
    for data in (parts(seed + i) for i in range(3)):
        other: Any = RG2(**settings).fit(data[0])
        if start == "softmax":
            other = best_fit("softmax", data, rates=(0.03, 0.1), epochs=10)
        runs = {"random": RG2(**by_sweeps).fit(data[0]), "other": RG2(**by_sweeps).fit(data[0], start=other)}
        best = min(record["loss"] for model in runs.values() for record in model.history_)
        zero = 0.5 * runs["random"]._objective(data[0]).squared_norm
        for name, model in runs.items():
            left = [(record["loss"] - best) / (zero - best) for record in model.history_]
            found[name].append({**_sweeps_to(left), "expected ndcg@10": expected_ndcg(model, data)})
    return {name: {key: float(np.mean([row[key] for row in rows])) for key in rows[0]} for name, rows in found.items()}


def _sweeps_to(left: list[float]) -> Numbers:
    shares = {"sweeps to 1 %": 0.01, "sweeps to 0.01 %": 1e-4}
    return {name: next((i + 1 for i, x in enumerate(left) if x < share), len(left)) for name, share in shares.items()}


def judge_warm(n: Numbers) -> Judgement:
    """At least a third fewer sweeps, and no worse an end."""
    cold, warm = n["random"], n["other"]
    same = warm["expected ndcg@10"] > cold["expected ndcg@10"] - 0.005
    return Judgement(
        decide(warm["sweeps to 1 %"] < 0.67 * cold["sweeps to 1 %"] and same),
        f"from the factors of softmax ALS needs {warm['sweeps to 1 %']:.1f} sweeps to the last per cent of what it "
        f"gains and {warm['sweeps to 0.01 %']:.1f} to the last hundredth of it, from random ones "
        f"{cold['sweeps to 1 %']:.1f} and {cold['sweeps to 0.01 %']:.1f}; expected NDCG@10 ends at "
        f"{warm['expected ndcg@10']:.4f} and {cold['expected ndcg@10']:.4f}",
    )


CLAIMS = (
    Claim(
        id="nce-plateaus",
        group=GROUP,
        source=f"{SUMMARY_2026}, First experiments 2, Failure signatures, Next checks 2",
        statement="With more negatives sampled softmax keeps improving, while NCE stops at a ceiling below it.",
        method="Both with Adam on planted data (two sets of 200 × 100), 1 to 64 draws per positive, learning rate 0.1; "
        "expected NDCG@10 under the truth.",
        experiment=by_negatives,
        judge=judge_negatives,
        change={"slow": 100.0},
        change_in_words="NCE with learning rates a hundredth as large",
        correction="NCE gains from more draws too and ends no lower than sampled softmax, under no ceiling of its own "
        "(nce-bias-never-vanishes).",
        needs_torch=True,
        figure=Figure("draws", ("sampled-softmax-all", "nce"), "Expected NDCG@10", log_x=True),
    ),
    Claim(
        id="nce-plateaus-on-ml-1m",
        group="On real data",
        source=f"{SUMMARY_2026}, First experiments 2, Failure signatures, Next checks 2",
        statement="With more negatives sampled softmax keeps improving, while NCE stops at a ceiling below it (ML-1M).",
        method="Both with Adam on ML-1M (papers' cleaning and split, rank 32, 15 epochs, uniform draws), 1 to 64 draws "
        "per positive, the best of three learning rates on validation data; test NDCG@10.",
        experiment=by_negatives_on_movielens,
        judge=judge_ceiling,
        correction="The numbers show no ceiling that belongs to NCE alone.",
        needs_torch=True,
        heavy=True,
        figure=Figure("draws", ("sampled-softmax-all", "nce"), "Test NDCG@10, ML-1M", log_x=True),
    ),
    Claim(
        id="warm-start-from-softmax",
        group=GROUP,
        source=f"{SUMMARY_2025}, Next checks 3",
        statement="Starting the ALS of RG² from factors that softmax trained saves a good part of the sweeps and ends "
        "as well.",
        method="RG² by ALS on planted data (three sets of 300 × 120, 8 factors) from random factors and from those of "
        "ten epochs of softmax; sweeps until the loss is within 1 % and 0.01 % of its end.",
        experiment=from_other_factors,
        judge=judge_warm,
        change={"start": "solution"},
        change_in_words="the factors of the spectral solution in place of those of softmax",
        correction="The optimum is global, so the start changes the way and not the end; a spectral fit needs no "
        "start.",
        needs_torch=True,
    ),
)
