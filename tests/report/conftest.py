"""A record as `compare` writes it, with everything in it, made without fitting anything."""

from __future__ import annotations

import pytest

CUTOFFS = (1, 2, 5, 10, 20, 50, 100)
METRICS = ["ndcg@10", "recall@10", "mrr@10", "ndcg@20", "recall@20"]
MODELS = {
    "rg2": ("RG2", 0.2312),
    "ials": ("IALS", 0.2298),
    "ease": ("EASE", 0.2215),
    "popularity": ("Popularity", 0.1187),
}


def one_run(name, seed, number):
    quality = MODELS[name][1] * (1 + 0.01 * seed)
    speed = 0.3 * (number + 1) ** 2 + 0.01 * seed
    steps = {"rg2": 1, "ials": 12}.get(name, 1)
    tuned = name != "popularity"
    trials = [
        {
            "params": {"regularization": 0.1 * t, "factors": 64 * t},
            "value": quality * (0.8 + 0.02 * min(t, 7) - 0.01 * (t % 3)),
            "seconds": speed,
            "status": "complete",
            "note": "",
        }
        for t in range(1, 9)
    ]
    return {
        "model": name,
        "seed": seed,
        "error": None,
        "params": {"regularization": 0.7, "factors": 448} if tuned else {},
        "tuning": {"trials": trials, "value": max(t["value"] for t in trials), "seconds": 8 * speed, "advice": []}
        if tuned
        else None,
        "fit_seconds": speed,
        "evaluate_seconds": 0.2,
        "peak_memory_bytes": 40_000_000 * (number + 1),
        "users": 6038,
        "metrics": {m: quality * (1 + 0.1 * i) for i, m in enumerate(METRICS)},
        "convergence": [
            {"step": s, "seconds": speed * s / steps, "value": quality * (1 - 0.5 / (s + 2 * (steps == 1) + 1))}
            for s in range(1, steps + 1)
        ]
        if seed == 0
        else None,
    }


def one_summary(name, number):
    quality = MODELS[name][1]
    return {
        "metrics": {
            m: {
                "mean": quality * (1 + 0.1 * i),
                "low": quality * (1 + 0.1 * i) - 0.004,
                "high": quality * (1 + 0.1 * i) + 0.004,
            }
            for i, m in enumerate(METRICS)
        },
        "versus_best": {}
        if name == "rg2"
        else {
            m: {"difference": quality - 0.2312, "low": quality - 0.2342, "high": quality - 0.2282, "p": p, "p_holm": p}
            for m in METRICS
            for p in [0.31 if name == "ials" else 0.0001]
        },
        "fit_seconds": 0.3 * (number + 1) ** 2,
        "tuning_seconds": 2.4 * (number + 1) ** 2 if name != "popularity" else None,
        "peak_memory_bytes": 40_000_000 * (number + 1),
        "by_cutoff": [[k, quality * (0.8 + 0.1 * i)] for i, k in enumerate(CUTOFFS)],
        "by_popularity": [
            {
                "bucket": f"{20 * b}–{20 * b + 20} %",
                "items": 30 * 3**b,
                "interactions": 16000,
                "recall": quality * 1.5 / (b + 1),
            }
            for b in range(5)
        ],
    }


def make_record():
    broken = {"label": "Broken <b>& co", "class": "Broken", "params": {}, "space": {}}
    failed = {"model": "broken", "error": "LinAlgError: singular matrix", "metrics": {}, "tuning": None, "params": {}}
    return {
        "schema": "taylorank comparison",
        "version": 1,
        "written": "2026-11-15T12:00:00Z",
        "taylorank": "0.1.0",
        "command": "taylorank compare ml-1m --models rg2,ials,ease,popularity --trials 8 --seeds 2 --report r.html",
        "machine": {"cpu": "Some CPU", "cores": 2, "memory_gib": 24.0, "python": "3.11", "libraries": {"numpy": "2.4"}},
        "data": {
            "name": "ml-1m",
            "users": 6038,
            "items": 3307,
            "interactions": 835_789,
            "density": 0.0419,
            "per_user": {"min": 5, "median": 82.0, "mean": 138.4, "max": 1950},
            "per_item": {"min": 5, "median": 104.0, "mean": 252.7, "max": 3377},
            "gini": 0.62,
            "top_share": 0.09,
            "first": None,
            "last": None,
            "steps": [{"action": "core(5) removed little", "users": 6038, "items": 3307, "interactions": 835_789}],
        },
        "protocol": {"name": "papers", "says": "80/10/10 per user, full ranking"},
        "settings": {"metrics": METRICS, "primary": "ndcg@10", "seeds": [0, 1], "popularity_cutoff": 10},
        "budget": {"trials": 8, "seconds": None},
        "models": {
            **{
                name: {
                    "label": label,
                    "class": label,
                    "params": {},
                    "space": {} if name == "popularity" else {"factors": {}},
                }
                for name, (label, _) in MODELS.items()
            },
            "broken": broken,
        },
        "runs": [
            *(one_run(name, seed, number) for seed in (0, 1) for number, name in enumerate(MODELS)),
            *({**failed, "seed": seed} for seed in (0, 1)),
        ],
        "summary": {
            "users": 6038,
            "best": dict.fromkeys(METRICS, "rg2"),
            "models": {
                **{name: one_summary(name, number) for number, name in enumerate(MODELS)},
                "broken": {"error": "2 of 2 seeds failed: LinAlgError: singular matrix"},
            },
        },
    }


@pytest.fixture
def record():
    return make_record()
