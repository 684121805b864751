"""Models on a GPU: seconds of fits, evaluations and searches, and whether they agree with those of a CPU.

Stages are apart: if one fails, its error is recorded and the next one runs. Each is run once before its seconds count.

- `gowalla`, `yelp2018`: RG² to its default tolerance on the published training parts, from `Interactions` to factors on
  the device; recall@20 and NDCG@20 of all users; lists and scores beside those that a CPU made (`--prepare` writes them).
- `tune-gowalla`, `tune-ml-1m`: eight pairs of exponents, five ranks, four thresholds, and the last fit.
- `ratings`: 20 M interactions of 138,493 users with 26,744 items: a sweep of RG² by ALS, a whole fit and its evaluation,
  sweeps of iALS.
- `ease`: Gowalla's 40,981 items.
- `billion`: a sweep of RG² over a billion interactions of 10 M users with 1 M items.

    python -m research.bench gpu --prepare --folder .carry/data      # where the data are; fits on the CPU
    python -m research.bench gpu --folder .carry/data --json gpu.json     # on the machine with the GPU
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import taylorank as tr
from research.bench.speed.device_data import median_s, skewed
from taylorank.data import Interactions, datasets
from taylorank.errors import in_one_line
from taylorank.machine import describe_machine

Row = dict[str, Any]
SETTINGS = {
    "gowalla": {"factors": 1024, "proposal_exponent": 0.9, "context_exponent": 1.2, "regularization": 0.25},
    "yelp2018": {"factors": 512, "proposal_exponent": 0.8, "context_exponent": 1.2, "regularization": 0.1},
}
SPACE = {
    "proposal_exponent": tr.selection.Choice((0.5, 0.7, 0.8, 0.9)),
    "context_exponent": tr.selection.Choice((1.0, 1.2)),
    "factors": tr.selection.Choice((64, 128, 256, 512, 1024)),
    "regularization": tr.selection.Choice((0.0, 0.1, 0.2, 0.3)),
}
RATINGS = (138_493, 26_744, 20_000_000)
BILLION = (10_000_000, 1_000_000, 1_000_000_000)
LISTED = 10
CHECKED_USERS = 500  # whose scores are compared


def run(
    *,
    folder: str = ".carry/data",
    prepare: bool = False,
    stages: str = "gowalla,yelp2018,tune-gowalla,tune-ml-1m,ratings,ease,billion",
    device: str = "cuda",
    quick: bool = False,
    log_line: Callable[[str], object] = lambda line: None,
) -> Row:
    """Time the models.

    Parameters
    ----------
    folder
        Where the data are, as `.npz`.
    prepare
        Write the data there, with lists and scores made on this CPU, and end.
    stages
        Which, with commas between.
    quick
        Make everything small.
    """
    place, record = Path(folder), {"benchmark": "gpu", "machine": describe_machine(), "stages": []}
    if prepare or quick:
        write_data(place, quick=quick)
    for stage in () if prepare else stages.split(","):
        began = time.perf_counter()
        try:
            for row in STAGES[stage.partition("-")[0] if stage not in STAGES else stage](stage, place, device, quick):
                record["stages"].append({"stage": stage, **row})
                log_line(json.dumps(record["stages"][-1]))
        except Exception as error:  # the other stages are worth having
            record["stages"].append({"stage": stage, "error": in_one_line(error)})
            log_line(json.dumps(record["stages"][-1]))
        log_line(f"{stage}: {time.perf_counter() - began:.1f} s in all")
    return record


def write_data(folder: Path, *, quick: bool) -> None:
    """Write training and test parts, and what a CPU makes of them."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, settings in SETTINGS.items():
        if quick:
            train, _, test = tr.planted(300, 200, interactions=6000).split()
        else:
            train, test = datasets.published_split(name)[:2]
        train.save_npz(folder / f"{name}-train.npz")
        test.save_npz(folder / f"{name}-test.npz")
        model = tr.RG2(**{**settings, "factors": min(settings["factors"], 32 if quick else 4096)}, device="cpu").fit(
            train
        )
        lists = model.recommend(train.users.values, n=LISTED)[0]
        chosen = np.arange(min(CHECKED_USERS, train.n_users))
        scores = np.take_along_axis(
            model.scores(chosen),
            lists[: len(chosen)].astype(np.int64)
            if quick
            else train.items.positions(lists[: len(chosen)].ravel()).reshape(len(chosen), -1),
            axis=1,
        )
        np.savez(folder / f"{name}-cpu.npz", lists=lists, scores=scores)
    data = tr.planted(300, 200, interactions=6000) if quick else datasets.get("ml-1m", cleaning="paper")
    data.save_npz(folder / "ml-1m.npz")


def timed(call: Callable[[], Any]) -> tuple[Any, float]:
    """Return what a call returns and its seconds, when the device has finished."""
    import torch

    began = time.perf_counter()
    found = call()
    if torch.cuda.is_available():
        torch.cuda.synchronize()
    return found, time.perf_counter() - began


def published(name: str, folder: Path, device: str, quick: bool) -> Iterator[Row]:
    """A fit, its evaluation, and how it agrees with a CPU's."""
    train, test = (Interactions.load_npz(folder / f"{name}-{part}.npz") for part in ("train", "test"))
    settings = {**SETTINGS[name], "factors": min(SETTINGS[name]["factors"], 32 if quick else 4096)}

    def fit() -> Any:
        return tr.RG2(**settings, device=device).fit(train)

    timed(fit)
    fits = [timed(fit) for _ in range(3)]
    model, seconds = fits[-1][0], [round(s, 4) for _, s in fits]
    yield {"what": "fit", "seconds": seconds, "passes": model.passes_, "residual": model.residual_, **settings}

    def judge() -> Any:
        return tr.evaluate(model, test, k=20, metrics=("recall", "ndcg"))

    timed(judge)
    metrics, spent = timed(judge)
    yield {
        "what": "evaluate",
        "seconds": round(spent, 4),
        "users": test.n_users,
        **{k: float(v) for k, v in metrics.items()},
    }
    kept = np.load(folder / f"{name}-cpu.npz")
    lists = model.recommend(train.users.values, n=LISTED)[0]
    chosen = np.arange(len(kept["scores"]))
    columns = train.items.positions(kept["lists"][: len(chosen)].ravel()).reshape(len(chosen), -1)
    scores = np.take_along_axis(model.scores(chosen), columns, axis=1)
    gap = float(np.abs(scores - kept["scores"]).max() / np.abs(kept["scores"]).max())
    same = float((lists == kept["lists"]).all(axis=1).mean())
    common = float(np.mean([len(np.intersect1d(a, b)) / LISTED for a, b in zip(lists, kept["lists"], strict=True)]))
    yield {"what": "agreement", "same_lists": round(same, 5), "common_items": round(common, 5), "largest_gap": gap}


def tuned(stage: str, folder: Path, device: str, quick: bool) -> Iterator[Row]:
    """A search over a grid, with the fit at its end."""
    name = stage.removeprefix("tune-")
    if name == "ml-1m":
        train, valid, _ = Interactions.load_npz(folder / "ml-1m.npz").split(random_state=0)
    else:
        train, valid = Interactions.load_npz(folder / f"{name}-train.npz").split((0.9, 0.1), random_state=0)
    space = {**SPACE, "factors": tr.selection.Choice((4, 8))} if quick else SPACE

    def search() -> Any:
        return tr.tune(tr.RG2(device=device), train, valid, metric="ndcg@20", trials=8, space=space)

    found, seconds = timed(search)
    again, second = timed(search)
    yield {
        "what": "tune", "seconds": [round(seconds, 3), round(second, 3)], "trials": len(again.trials),
        "best": again.best, "value": float(again.value),
    }  # fmt: skip


def ratings(_: str, folder: Path, device: str, quick: bool) -> Iterator[Row]:
    """Sweeps, a fit and an evaluation on 20 M interactions."""
    from taylorank.objectives import RG2Objective, ials_objective, rg_objective
    from taylorank.solvers import als, row_als
    from taylorank.solvers.spectral import scaled_matrix

    rows = skewed((300, 200, 6000) if quick else RATINGS, device)
    data = Interactions.from_matrix(unique_pairs(rows))
    yield {"what": "data", "interactions": data.nnz, "users": data.n_users, "items": data.n_items}
    objective = rg_objective(RG2Objective, data, proposal_exponent=0.6, context_exponent=1.2)
    matrix = scaled_matrix(objective, device=device)
    import torch

    for width in (8,) if quick else (64, 128):
        start = torch.randn(data.n_items, width, device=device) * 0.01
        sweeps = als.iterate(objective, matrix, start, penalty=1e-3)
        yield {"what": "RG² sweep", "factors": width, "seconds": median_s(lambda s=sweeps: next(s), device, 10)}  # type: ignore[misc]
    model, first = timed(lambda: tr.RG2(8 if quick else 128, device=device).fit(data))
    model, seconds = timed(lambda: tr.RG2(8 if quick else 128, device=device).fit(data))
    train, test = data.split((0.9, 0.1), random_state=0)
    timed(lambda: tr.evaluate(model, test, k=20, metrics="ndcg", seen=[]))
    _, spent = timed(lambda: tr.evaluate(model, test, k=20, metrics="ndcg", seen=[]))
    yield {"what": "fit and evaluation", "factors": model.factors, "fit_s": [first, seconds], "evaluate_s": spent}
    weighted = ials_objective(data, unobserved_weight=0.1, regularization=0.01, nu=1.0).on(device)
    weighted.prepare()
    for width, method in (
        ((8, "cholesky"),) if quick else ((64, "cholesky"), (256, "cholesky"), (64, "cg"), (256, "cg"))
    ):
        P, Q = (torch.randn(size, width, device=device) * 0.01 for size in (data.n_users, data.n_items))
        steps = row_als.iterate(weighted, P, Q, method=method)  # type: ignore[arg-type]
        spent = median_s(lambda s=steps: next(s), device, 3)  # type: ignore[misc]
        yield {"what": "iALS sweep", "method": method, "factors": width, "seconds": spent}


def unique_pairs(rows: Any) -> Any:
    """Return the rows as a SciPy matrix of ones, each pair once."""
    matrix = rows.to_csr().to_scipy().copy()
    matrix.has_canonical_format = False
    matrix.sum_duplicates()
    matrix.data[:] = 1
    return matrix


def ease(_: str, folder: Path, device: str, quick: bool) -> Iterator[Row]:
    """EASE on all items of Gowalla."""
    train, test = (Interactions.load_npz(folder / f"gowalla-{part}.npz") for part in ("train", "test"))
    model, first = timed(lambda: tr.EASE(200.0, device=device).fit(train))
    model, seconds = timed(lambda: tr.EASE(200.0, device=device).fit(train))
    yield {"what": "fit", "items": train.n_items, "seconds": [round(first, 3), round(seconds, 3)]}


def billion(_: str, folder: Path, device: str, quick: bool) -> Iterator[Row]:
    """A sweep over a billion interactions: gather-sums both ways, Gram matrices and solves."""
    import torch

    from taylorank.kernels import gather_sum
    from taylorank.kernels.arrays import identity
    from taylorank.kernels.cuda import gram, inverse

    users, items, entries = (3000, 2000, 60_000) if quick else BILLION
    rows = regular_rows(users, items, entries, device)
    columns = rows.transpose()
    Q = torch.randn(items, 128, device=device) * 0.01
    P = torch.empty(users, 128, device=device)

    def sweep() -> None:
        X = (Q.double() @ inverse(gram(Q) + identity(gram(Q)))).float()
        gather_sum(rows, X, out=P)
        square = gram(P)
        Q.copy_((gather_sum(columns, P).double() @ inverse(square + identity(square))).float())

    seconds = median_s(sweep, device, 3)
    peak = torch.cuda.max_memory_allocated() / 2**30 if torch.cuda.is_available() else 0.0
    yield {"what": "sweep", "factors": 128, "interactions": entries, "seconds": seconds, "peak_gib": round(peak, 1)}


def regular_rows(users: int, items: int, entries: int, device: str) -> Any:
    """As many items for every user, drawn on the device by popularities that fall as powers."""
    import torch

    from taylorank.kernels.cuda import DeviceRows

    each = entries // users
    steps = torch.cumsum((torch.arange(items, device=device, dtype=torch.float64) + 20.0) ** -0.9, 0)
    steps = (steps / steps[-1]).float()
    indices = torch.empty(users * each, dtype=torch.int32, device=device)
    for first in range(0, users * each, 1 << 26):
        part = indices[first : first + (1 << 26)]
        part.copy_(torch.searchsorted(steps, torch.rand(len(part), device=device)).clamp_(max=items - 1))
    indptr = torch.arange(users + 1, device=device, dtype=torch.int64) * each
    return DeviceRows(indptr, indices, None, items)


STAGES: dict[str, Callable[[str, Path, str, bool], Iterator[Row]]] = {
    "gowalla": published,
    "yelp2018": published,
    "tune": tuned,
    "ratings": ratings,
    "ease": ease,
    "billion": billion,
}


def describe(record: Row) -> list[str]:
    """Describe the results in words."""
    lines = []
    for row in record["stages"]:
        facts = ", ".join(f"{name} {value}" for name, value in row.items() if name not in ("stage", "what"))
        lines.append(f"{row['stage']}, {row.get('what', 'failed')}: {facts}")
    return lines
