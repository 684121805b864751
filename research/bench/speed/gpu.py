"""Models on a GPU: seconds of fits, evaluations and searches, and whether they agree with those of a CPU.

Stages are apart: if one fails, its error is recorded and the next one runs. What is timed ran before, so that kernels
are compiled.

- `gowalla`, `yelp2018`: RG² to its default tolerance on the published training parts, from `Interactions` to factors on
  the device; recall@20 and NDCG@20 of all users; lists and scores beside those of a CPU, which `--prepare` writes.
- `tune-gowalla`, `tune-ml-1m`: eight pairs of exponents, five ranks, four thresholds, and the last fit.
- `ratings`: 20 M draws of pairs, 138,493 users by 26,744 items: a sweep of RG² by ALS, a whole fit and its evaluation,
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
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import taylorank as tr
from research.bench.speed.device_data import median_s, skewed
from taylorank.data import Interactions, datasets
from taylorank.errors import in_one_line
from taylorank.kernels.arrays import identity, normal
from taylorank.machine import describe_machine
from taylorank.objectives import RG2Objective, ials_objective, rg_objective
from taylorank.selection import Choice
from taylorank.solvers import als, row_als
from taylorank.solvers.spectral import scaled_matrix

Row = dict[str, Any]
SETTINGS: dict[str, Row] = {
    "gowalla": {"factors": 1024, "proposal_exponent": 0.9, "context_exponent": 1.2, "regularization": 0.25},
    "yelp2018": {"factors": 512, "proposal_exponent": 0.8, "context_exponent": 1.2, "regularization": 0.1},
}
SPACE = {
    "proposal_exponent": Choice((0.5, 0.7, 0.8, 0.9)),
    "context_exponent": Choice((1.0, 1.2)),
    "factors": Choice((64, 128, 256, 512, 1024)),
    "regularization": Choice((0.0, 0.1, 0.2, 0.3)),
}
RATINGS = (138_493, 26_744, 20_000_000)
BILLION = (10_000_000, 1_000_000, 1_000_000_000)
SMALL = (300, 200, 6000)
SOLVED: tuple[tuple[int, Any], ...] = ((64, "cholesky"), (256, "cholesky"), (64, "cg"), (256, "cg"))
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
    place, rows = Path(folder), []
    if prepare or quick:
        write_data(place, quick=quick)
    for stage in () if prepare else stages.split(","):
        began = time.perf_counter()
        try:
            for row in STAGES[stage](place, device, quick):
                rows.append({"stage": stage, **row})
                log_line(json.dumps(rows[-1]))
        except Exception as error:  # the other stages are worth having
            rows.append({"stage": stage, "error": in_one_line(error)})
            log_line(json.dumps(rows[-1]))
        log_line(f"{stage}: {time.perf_counter() - began:.1f} s in all")
    return {"benchmark": "gpu", "machine": describe_machine(), "stages": rows}


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
        model = tr.RG2(**sized(settings, quick), device="cpu").fit(train)
        lists = model.recommend(train.users.values, n=LISTED)[0]
        np.savez(folder / f"{name}-cpu.npz", lists=lists, scores=scores_of(model, train, lists[:CHECKED_USERS]))
    data = tr.planted(300, 200, interactions=6000) if quick else datasets.get("ml-1m", cleaning="paper")
    data.save_npz(folder / "ml-1m.npz")


def sized(settings: Row, quick: bool) -> Row:
    """Return the settings, with a small rank if everything is to be quick."""
    return {**settings, "factors": min(settings["factors"], 32 if quick else 4096)}


def scores_of(model: Any, train: Interactions, lists: Any) -> Any:
    """Return the scores of the items in the lists of the first users."""
    columns = train.items.positions(lists.ravel()).reshape(lists.shape)
    return np.take_along_axis(model.scores(np.arange(len(lists))), columns, axis=1)


def timed(call: Callable[[], Any]) -> tuple[Any, float]:
    """Return what a call returns and its seconds, when the device has finished."""
    import torch

    began = time.perf_counter()
    found = call()
    if torch.cuda.is_available():
        torch.cuda.synchronize()
    return found, time.perf_counter() - began


def published(name: str, folder: Path, device: Any, quick: bool) -> Iterator[Row]:
    """A fit, its evaluation, and how it agrees with a CPU's."""
    train, test = (Interactions.load_npz(folder / f"{name}-{part}.npz") for part in ("train", "test"))
    settings = sized(SETTINGS[name], quick)
    fits = [timed(lambda: tr.RG2(**settings, device=device).fit(train)) for _ in range(4)]
    model, seconds = fits[-1][0], [round(spent, 4) for _, spent in fits[1:]]
    yield {"what": "fit", "seconds": seconds, "passes": model.passes_, "residual": model.residual_, **settings}

    def judge() -> Any:
        return tr.evaluate(model, test, k=20, metrics=("recall", "ndcg"))

    timed(judge)
    metrics, spent = timed(judge)
    values = {metric: float(value) for metric, value in metrics.items()}
    yield {"what": "evaluate", "seconds": round(spent, 4), "users": test.n_users, **values}
    kept = np.load(folder / f"{name}-cpu.npz")
    lists = model.recommend(train.users.values, n=LISTED)[0]
    gaps = np.abs(scores_of(model, train, kept["lists"][: len(kept["scores"])]) - kept["scores"])
    common = [len(np.intersect1d(mine, theirs)) for mine, theirs in zip(lists, kept["lists"], strict=True)]
    yield {
        "what": "agreement",
        "same_lists": round(float((lists == kept["lists"]).all(axis=1).mean()), 5),
        "common_items": round(float(np.mean(common)) / LISTED, 5),
        "largest_gap": float(gaps.max() / np.abs(kept["scores"]).max()),
    }


def tuned(name: str, folder: Path, device: Any, quick: bool) -> Iterator[Row]:
    """A search over a grid, with the fit at its end."""
    if name == "ml-1m":
        train, valid = Interactions.load_npz(folder / "ml-1m.npz").split(random_state=0)[:2]
    else:
        train, valid = Interactions.load_npz(folder / f"{name}-train.npz").split((0.9, 0.1), random_state=0)
    space = {**SPACE, "factors": Choice((4, 8))} if quick else SPACE

    def search() -> Any:
        return tr.tune(tr.RG2(device=device), train, valid, metric="ndcg@20", trials=8, space=space)

    first = timed(search)[1]
    found, second = timed(search)
    seconds = [round(first, 3), round(second, 3)]
    yield {"what": "tune", "seconds": seconds, "trials": len(found.trials), "best": found.best, "value": found.value}


def ratings(folder: Path, device: Any, quick: bool) -> Iterator[Row]:
    """Sweeps, a fit and an evaluation on 20 M interactions."""
    data = Interactions.from_matrix(unique_pairs(skewed(SMALL if quick else RATINGS, device)))
    yield {"what": "data", "interactions": data.nnz, "users": data.n_users, "items": data.n_items}
    objective = rg_objective(RG2Objective, data, proposal_exponent=0.6, context_exponent=1.2)
    matrix = scaled_matrix(objective, device=device)
    for width in (8,) if quick else (64, 128):
        sweeps = als.iterate(objective, matrix, 0.01 * normal(matrix.right, (data.n_items, width), 0), penalty=1e-3)
        yield {"what": "RG² sweep", "factors": width, "seconds": median_s(partial(next, sweeps), device, 10)}
    width = 8 if quick else 128
    first = timed(lambda: tr.RG2(width, device=device).fit(data))[1]
    model, second = timed(lambda: tr.RG2(width, device=device).fit(data))
    test = data.split((0.9, 0.1), random_state=0)[1]

    def judge() -> Any:
        return tr.evaluate(model, test, k=20, metrics="ndcg", seen=[])

    timed(judge)
    yield {"what": "fit and evaluation", "factors": width, "fit_s": [first, second], "evaluate_s": timed(judge)[1]}
    weighted = ials_objective(data, unobserved_weight=0.1, regularization=0.01, nu=1.0).on(device)
    weighted.prepare()
    for width, method in SOLVED[:1] if quick else SOLVED:
        P, Q = (0.01 * normal(matrix.right, (size, width), 0) for size in (data.n_users, data.n_items))
        steps = row_als.iterate(weighted, P, Q, method=method)
        seconds = median_s(partial(next, steps), device, 3)
        yield {"what": "iALS sweep", "method": method, "factors": width, "seconds": seconds}


def unique_pairs(rows: Any) -> Any:
    """Return the rows as a SciPy matrix of ones, each pair once."""
    matrix = rows.to_csr().to_scipy().copy()
    matrix.has_canonical_format = False
    matrix.sum_duplicates()
    matrix.data[:] = 1
    return matrix


def ease(folder: Path, device: Any, quick: bool) -> Iterator[Row]:
    """EASE on all items of Gowalla."""
    train = Interactions.load_npz(folder / "gowalla-train.npz")
    seconds = [round(timed(lambda: tr.EASE(200.0, device=device).fit(train))[1], 3) for _ in range(2)]
    yield {"what": "fit", "items": train.n_items, "seconds": seconds}


def billion(folder: Path, device: Any, quick: bool) -> Iterator[Row]:
    """A sweep over a billion interactions: gather-sums both ways, Gram matrices and solves."""
    import torch

    from taylorank.kernels.cuda import gather_sum, gram, inverse

    users, items, entries = SMALL if quick else BILLION
    rows = regular_rows(users, items, entries, device)
    columns = rows.transpose()
    Q, P = torch.randn(items, 128, device=device) * 0.01, torch.empty(users, 128, device=device)

    def solved(block: torch.Tensor, square: torch.Tensor) -> torch.Tensor:
        return block @ inverse(square + identity(square)).float()

    def sweep() -> None:
        gather_sum(rows, solved(Q, gram(Q)), out=P)
        Q.copy_(solved(gather_sum(columns, P), gram(P)))

    seconds = median_s(sweep, device, 3)
    peak = torch.cuda.max_memory_allocated() / 2**30 if torch.cuda.is_available() else 0.0
    yield {"what": "sweep", "factors": 128, "interactions": entries, "seconds": seconds, "peak_gib": round(peak, 1)}


def regular_rows(users: int, items: int, entries: int, device: str) -> Any:
    """As many items for every user, drawn on the device by popularities that fall as powers."""
    import torch

    from taylorank.kernels.cuda import DeviceRows

    each, together = entries // users, 1 << 26
    steps = torch.cumsum((torch.arange(items, device=device, dtype=torch.float64) + 20.0) ** -0.9, 0)
    steps = (steps / steps[-1]).float()
    indices = torch.empty(users * each, dtype=torch.int32, device=device)
    for first in range(0, len(indices), together):
        part = indices[first : first + together]
        part.copy_(torch.searchsorted(steps, torch.rand(len(part), device=device)).clamp_(max=items - 1))
    return DeviceRows(torch.arange(users + 1, device=device) * each, indices, None, items)


STAGES: dict[str, Callable[[Path, Any, bool], Iterator[Row]]] = {
    **{name: partial(published, name) for name in SETTINGS},
    **{f"tune-{name}": partial(tuned, name) for name in ("gowalla", "ml-1m")},
    "ratings": ratings,
    "ease": ease,
    "billion": billion,
}


def describe(record: Row) -> list[str]:
    """Describe the results in words."""
    lines = []
    for row in record["stages"]:
        told = WORDS.get(row.get("what", ""), _failed)(row)
        lines.append(f"{row['stage']}: {told}")
    return lines


def _failed(row: Row) -> str:
    return f"failed: {row['error']}"


def _fit(row: Row) -> str:
    if "items" in row:
        return f"fit, {row['items']:,} items: {row['seconds'][-1]:.2f} s"
    words = f"fit, K = {row['factors']}: {sorted(row['seconds'])[len(row['seconds']) // 2]:.3f} s"
    return f"{words}, {row['passes']} passes, residual {row['residual']:.1e}"


def _agreement(row: Row) -> str:
    words = f"{row['same_lists']:.2%} of the lists of ten are the same as a CPU's in every place"
    return f"{words}, {row['common_items']:.3%} of their items; scores differ by {row['largest_gap']:.0e} at most"


def _tune(row: Row) -> str:
    return f"tune, {row['trials']} settings and the last fit: {row['seconds'][-1]:.1f} s"


def _sweep(row: Row) -> str:
    kind = f"{row['what']} ({row['method']})" if "method" in row else row["what"]
    size = f", {row['interactions']:,} interactions, {row['peak_gib']} GiB" if "peak_gib" in row else ""
    return f"{kind}, K = {row['factors']}{size}: {1000 * row['seconds']:.1f} ms"


WORDS: dict[str, Callable[[Row], str]] = {
    "fit": _fit,
    "evaluate": lambda row: (
        f"evaluation of {row['users']:,} users: {row['seconds']:.3f} s; recall@20 {row['recall@20']:.4f}, "
        f"NDCG@20 {row['ndcg@20']:.4f} with these settings"
    ),
    "agreement": _agreement,
    "tune": _tune,
    "data": lambda row: f"{row['interactions']:,} interactions, {row['users']:,} users, {row['items']:,} items",
    "fit and evaluation": lambda row: (
        f"fit, K = {row['factors']}: {row['fit_s'][-1]:.2f} s; evaluation of all users {row['evaluate_s']:.2f} s"
    ),
    **dict.fromkeys(("RG² sweep", "iALS sweep", "sweep"), _sweep),
}
