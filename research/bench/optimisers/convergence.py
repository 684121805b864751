"""Which optimiser, and how fast? Loss and validation NDCG against seconds.

The same RG² objective by its SVD, ALS with a shared matrix, ALS row by row, Newton-CG and Adam; softmax by Adam, cold
and from RG²; RG² by ALS from softmax; and the losses that the RG papers compare with. Convergence orders are fitted
to the RG² curves (`optimisers.orders`), whose optimum the SVD knows.

    python -m research.bench convergence ml-1m.npz --seeds 0,1,2 --json convergence-ml-1m.json

An existing file is continued: curves that it has are not drawn again, unless `--again` names them.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from research.bench.optimisers import curves
from research.bench.optimisers.curves import Curve, Measure, Study, thin, timed
from research.bench.optimisers.orders import convergence
from research.options import numbers
from research.output import provenance, write_json
from taylorank.data import Interactions, planted
from taylorank.errors import ParameterError
from taylorank.machine import describe_machine
from taylorank.solvers import solve_spectral

OTHERS = {"BPR": "bpr", "BCE": "bce", "SSM": "sampled-softmax", "UIB": "uib", "SML": "sml"}
RG2_NAMES = ("RG², SVD", "RG², ALS", "RG², row ALS", "RG², Newton-CG", "RG², Adam", "RG², ALS from softmax")
NAMES = (*RG2_NAMES, "softmax, Adam", "softmax, Adam from RG²", *OTHERS, "WRMF")
# Whose parameters a curve has, beside those of RG² itself, which decide all curves that are measured by its loss.
PARAMS_OF = {
    "RG², Newton-CG": ("newton",),
    "RG², Adam": ("adam",),
    "RG², ALS from softmax": ("softmax",),
    "softmax, Adam": ("softmax",),
    "softmax, Adam from RG²": ("softmax", "rg2"),
    **{name: (loss,) for name, loss in OTHERS.items()},
    "WRMF": ("wrmf",),
}
Record = dict[str, Any]
TARGETS = (1e-2, 1e-3, 1e-6)  # of L(0) − L*


def run(
    data: Path | None = None,
    /,
    *,
    quick: bool = False,
    factors: int = 64,
    epochs: int = 50,
    regularization: float = 0.2,
    seeds: str = "0",
    curves: str = ";".join(NAMES),
    again: str = "",
    device: str = "auto",
    params: Path | None = None,
    file: Path | None = None,
    command: str = "",
    log_line: Callable[[str], object] = lambda line: None,
) -> Record:
    """Draw the curves.

    Parameters
    ----------
    data
        A file of Interactions.save_npz; planted data if none is named.
    quick
        Few data, factors and epochs.
    epochs
        Epochs, sweeps and Newton iterations, at most.
    regularization
        τ/σ₁ of RG².
    seeds
        With commas between.
    curves
        With semicolons between.
    again
        Curves to draw again, as --curves: the file's are dropped.
    params
        JSON file of parameters by contender: {"softmax": {"learning_rate": 0.03}}.
    """
    if quick:
        factors, epochs = 4, 6
    earlier: Record = {"runs": []}
    if file is not None and file.exists():
        earlier = json.loads(file.read_text(encoding="utf-8"))
    commands = "\n".join(dict.fromkeys([*earlier.get("command", "").splitlines(), from_nothing(command)]))

    def keep(record: Record) -> None:
        if file is not None:
            write_json(file, {**record, **provenance(commands)}, indent=None)

    return study_of(
        data_of(data, quick=quick),
        name="planted" if data is None else data.stem,
        factors=factors,
        epochs=epochs,
        seeds=numbers(seeds, "--seeds"),
        regularization=regularization,
        names=curves_named(curves),
        device=device,
        params=None if params is None else json.loads(params.read_text(encoding="utf-8")),
        earlier=earlier,
        again=curves_named(again),
        log_line=log_line,
        keep=keep,
    )


def data_of(file: Path | None, *, quick: bool) -> Interactions:
    """Return the data of a file, or planted ones."""
    if file is not None:
        return Interactions.load_npz(file)
    return planted(120, 50, interactions=1500) if quick else planted(6000, 3000, interactions=600_000)


def curves_named(text: str) -> tuple[str, ...]:
    """Return the names of curves in a text with semicolons between."""
    names = tuple(filter(None, text.split(";")))
    unknown = [name for name in names if name not in NAMES]
    if unknown:
        raise ParameterError(f"no curve is called {unknown[0]!r}", f"choose from {'; '.join(NAMES)}")
    return names


def from_nothing(command: str) -> str:
    """Return the command that makes the same from nothing: without --again and what it names.

    >>> from_nothing("python -m research.bench convergence a.npz --again BPR --epochs 3")
    'python -m research.bench convergence a.npz --epochs 3'
    """
    kept = shlex.split(command)
    while "--again" in kept:
        place = kept.index("--again")
        del kept[place : place + 2]
    return shlex.join(kept)


def study_of(
    data: Interactions,
    *,
    name: str,
    factors: int,
    epochs: int,
    seeds: tuple[int, ...],
    regularization: float = 0.2,
    metric: str = "ndcg@10",
    names: tuple[str, ...] = NAMES,
    device: str = "auto",
    params: dict[str, dict[str, Any]] | None = None,
    earlier: Record | None = None,
    again: Sequence[str] = (),
    log_line: Callable[[str], object] = lambda line: None,
    keep: Callable[[Record], object] = lambda record: None,
) -> Record:
    """Split 80/10/10 and draw every curve of `names` for every seed, of the split and of the start.

    Curves of an `earlier` record are not drawn again, unless `again` names them; `keep` is given the record after each.
    """
    record: Record = {
        "benchmark": "convergence",
        "data": {"name": name, "users": data.n_users, "items": data.n_items, "interactions": data.nnz},
        "settings": {
            "factors": factors,
            "epochs": epochs,
            "regularization": regularization,
            "metric": metric,
            "params": params or {},
        },
        "machine": describe_machine(),
    }
    known = [] if earlier is None else still_known(earlier, record, again=again)
    record["runs"] = [run for run in known if run["seed"] not in seeds]
    for seed in seeds:
        train, valid, _ = data.split((0.8, 0.1, 0.1), random_state=seed)
        study = Study(train, valid, factors, regularization, epochs, metric, seed, device, params or {})
        found: Record = next((run["curves"] for run in known if run["seed"] == seed), {})
        record["runs"].append({})
        for run in seed_by_curve(study, names, dict(found), log_line):
            record["runs"][-1] = run
            keep(record)
    return record


def still_known(earlier: Record, now: Record, *, again: Sequence[str]) -> list[Record]:
    """Return the runs of an earlier record without the curves to draw again; refuse one of another study.

    Seconds of another machine, or losses under other settings, would stand in one figure as if they were of this.
    """
    runs = [
        {**run, "curves": {name: curve for name, curve in run["curves"].items() if name not in again}}
        for run in earlier["runs"]
    ]
    if not runs:
        return []
    old, new = earlier["settings"], now["settings"]
    other = [part for part in new if part != "params" and old.get(part) != new[part]]
    other += [] if earlier["data"] == now["data"] else ["data"]
    other += [] if earlier["machine"]["cpu"] == now["machine"]["cpu"] else ["machine"]
    changed = {one for one in {*old["params"], *new["params"]} if old["params"].get(one) != new["params"].get(one)}
    other += ["params of RG²"] if "rg2" in changed else []
    kept = dict.fromkeys(name for run in runs for name in run["curves"])
    stale = [name for name in kept if changed & {*PARAMS_OF.get(name, ())}]
    if other:
        raise ParameterError(f"the file is of another study: {', '.join(other)} differ", "give another --json")
    if stale:
        raise ParameterError(f"the file has other parameters of {', '.join(stale)}", f"--again '{';'.join(stale)}'")
    return runs


def seed_by_curve(
    study: Study, names: tuple[str, ...], found: dict[str, Any], log_line: Callable[[str], object]
) -> Iterator[Record]:
    """Draw the curves of one seed that are not `found`; yield the run after each."""
    objective = study.objective()
    path, seconds = timed(lambda: solve_spectral(objective, study.factors, tolerance=0, random_state=study.seed))
    penalty = path.penalty(study.regularization)
    best = objective.loss(*path.factors(study.factors, study.regularization), regularization=penalty)
    zero = 0.5 * objective.squared_norm
    closed, fit_seconds = timed(lambda: study.closed().fit(study.train))
    measure = Measure(study, objective, penalty, closed)
    run = {"seed": study.seed, "zero": zero, "best": best, "exact_svd_seconds": seconds}
    yield {**run, "curves": found}
    for name in names:
        if name in found:
            continue
        curve = draw(name, measure, fit_seconds)
        found[name] = {"points": list(thin(curve))}
        if name in RG2_NAMES:
            losses = [point["loss"] for point in curve]
            found[name]["convergence"] = convergence(losses, best=best, zero=zero)
            found[name]["seconds_to"] = {
                f"{share:g}": reached(curve, best + share * (zero - best)) for share in TARGETS
            }
        log_line(f"seed {study.seed}: {curve_text(name, found[name])}")
        yield {**run, "curves": {one: found[one] for one in NAMES if one in found}}


def draw(name: str, measure: Measure, fit_seconds: float) -> Curve:
    """Return one curve."""
    study = measure.study
    if name == "RG², Adam":
        from research.bench.optimisers.first_order_rg import adam  # needs torch

        return adam(measure)
    if name == "RG², ALS from softmax":
        softmax = study.neural("softmax", "softmax").fit(study.train)
        return curves.shared_als(measure, start=softmax)
    if name == "softmax, Adam from RG²":
        return curves.neural(study, "softmax", "softmax", start=measure.model, head_start=fit_seconds)
    if name in OTHERS:
        return curves.neural(study, OTHERS[name], OTHERS[name])
    simple: dict[str, Callable[[], Curve]] = {
        "RG², SVD": lambda: curves.spectral(measure),
        "RG², ALS": lambda: curves.shared_als(measure),
        "RG², row ALS": lambda: curves.row_als(measure),
        "RG², Newton-CG": lambda: curves.newton(measure),
        "softmax, Adam": lambda: curves.neural(study, "softmax", "softmax"),
        "WRMF": lambda: curves.wrmf(study),
    }
    return simple[name]()


def reached(curve: Curve, loss: float) -> float | None:
    """Return the seconds until the loss is at most `loss`; None: never."""
    return next((point["seconds"] for point in curve if point["loss"] <= loss), None)


def curve_text(name: str, found: dict[str, Any]) -> str:
    """Describe a curve in a line."""
    points = found["points"]
    metrics = [point["metric"] for point in points if point["metric"] is not None]
    top = max(range(len(points)), key=lambda i: points[i]["metric"] or 0.0)
    line = f"{name}: best metric {max(metrics):.4f} after {points[top]['seconds']:.2f} s"
    if "convergence" not in found:
        return line
    law = found["convergence"]
    times = ", ".join(
        f"{share} in {'–' if seconds is None else f'{seconds:.2f} s'}" for share, seconds in found["seconds_to"].items()
    )
    order_text = "" if law["order"] is None else f" (order {law['order']:.2f}, rate {law['rate']:.3g})"
    return f"{line}; excess {law['last_excess']:.1e}, {times}; {law['kind']}{order_text}"


def describe(record: dict[str, Any]) -> list[str]:
    """Describe the results in words."""
    return [
        f"seed {run['seed']}: {curve_text(name, found)}"
        for run in record["runs"]
        for name, found in run["curves"].items()
    ]
