"""The softmax family against itself: every composition tuned with the same budget, on one protocol.

Needs torch, and nothing else beyond NumPy and SciPy, so that it runs where little is installed; each composition is a
process of its own, several at a time. The data is a file of `Interactions.save_npz`, or two for a published split.

    python -m research.bench.softmax_family ml-1m.npz --compositions bpr,bpr/lightgcn --trials 16 --json out.json
    python -m research.bench.softmax_family gowalla-train.npz --test gowalla-test.npz --users 1024 --json gowalla.json
"""

from __future__ import annotations

import argparse
import math
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, replace
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from taylorank.data import Interactions
from taylorank.models.recommender import Recommender
from taylorank.ranking.protocol import EvaluationProtocol, LeaveOneOut, PublishedSplit, Ratio
from taylorank.registry import model_named
from taylorank.selection import compare
from taylorank.selection.join import join_records
from taylorank.selection.neural_space import OVER_ALL_ITEMS, neural_space
from taylorank.selection.record import load_record, save_record
from taylorank.selection.space import Choice, Range, Space
from taylorank.training import Neural
from taylorank.training.names import LOSS_NAMES

METRICS = ("ndcg@10", "ndcg@20", "mrr@10", "recall@20", "precision@20", "map@10")
EPOCHS = {"mf": 50, "lightgcn": 50, "sasrec": 60, "two-tower": 50}  # at most; tuning chooses
USERS = 512  # per step, with all their items; histories for SASRec
RATES = {"sasrec": Range(1e-3, 0.02, log=True)}
RATE = Range(5e-3, 0.1, log=True)  # steps are large and few
DRAWS = Choice((8, 32))


@dataclass(frozen=True)
class Job:
    """One composition to tune, fit and test."""

    composition: str
    train: str
    test: str | None
    metric: str
    by_time: bool
    trials: int
    seeds: tuple[int, ...]
    epochs: int | None
    users: int
    params: tuple[tuple[str, Any], ...]
    choices: tuple[tuple[str, Choice], ...]
    name: str
    file: str


def pairs_of(data: Interactions, users: int) -> int:
    """Return the power of two next to the number of pairs that so many users have.

    Losses that take pairs then make about as many steps in an epoch as those that take users with all their items.

    >>> from taylorank.data import planted
    >>> pairs_of(planted(100, 40, interactions=1500), 512)
    8192
    """
    return 1 << round(math.log2(max(1.0, users * data.nnz / data.n_users)))


def composed(
    name: str, data: Interactions, *, epochs: int | None = None, users: int = USERS, **params: Any
) -> Recommender:
    """Return the composition, unfitted, with the batches and epochs that all have on these data."""
    model = model_named(name)
    loss, backbone = (model.get_params()[part] for part in ("loss", "backbone"))
    in_pairs = (loss not in OVER_ALL_ITEMS or loss == "hsm") and backbone != "sasrec"
    model.set_params(batch_size=pairs_of(data, users) if in_pairs else users)
    return model.set_params(epochs=epochs or EPOCHS[backbone], **params)


def space_of(model: Recommender) -> Space:
    """Return what tuning tries: rates for the large and few steps that are made here."""
    assert isinstance(model, Neural)
    space = {**neural_space(model), "learning_rate": RATES.get(model.backbone, RATE)}
    return {**space, "negatives": DRAWS} if "negatives" in space else space


def protocol_of(job: Job) -> EvaluationProtocol:
    """Return how a job is tested: on a published split, on the last item of each user, or as the papers do."""
    if job.test is not None:
        return PublishedSplit()
    return LeaveOneOut(chooses=job.metric) if job.by_time else Ratio(chooses=job.metric)


def run_job(job: Job) -> str:
    """Compare a composition with nobody; return the file of the record."""
    import torch

    torch.set_num_threads(1)
    train = Interactions.load_npz(job.train)
    data: Any = train if job.test is None else (train, Interactions.load_npz(job.test))
    params, choices = dict(job.params), dict(job.choices)
    model = composed(job.composition, train, **{"epochs": job.epochs, "users": job.users, **params})
    compare(
        data,
        {job.composition: model},
        spaces={job.composition: {n: wide for n, wide in {**space_of(model), **choices}.items() if n not in params}},
        protocol=protocol_of(job),
        seeds=job.seeds,
        trials=job.trials,
        metrics=METRICS,
        file=job.file,
        name=job.name,
        command=" ".join(["python -m research.bench.softmax_family", *sys.argv[1:]]),
    )
    return job.file


def run_jobs(jobs: list[Job], *, at_once: int, out: Path) -> None:
    """Run the jobs, some at a time; after each, `out` holds all that is done."""
    began, done = time.perf_counter(), []
    with ProcessPoolExecutor(at_once, mp_context=get_context("spawn")) as pool:
        waiting = {pool.submit(run_job, job): job for job in jobs}
        for future in as_completed(waiting):
            done.append(future.result())
            record = join_records([load_record(file) for file in done])
            save_record(record, out)
            job = waiting[future]
            print(f"{time.perf_counter() - began:6.0f} s  {job.composition}: {_told(record, job)}", flush=True)


def _told(record: dict[str, Any], job: Job) -> str:
    found = record["summary"]["models"][job.composition]
    if "metrics" not in found:
        return str(found["error"])
    runs = [run for run in record["runs"] if run["model"] == job.composition]
    values = "  ".join(f"{name} {found['metrics'][name]['mean']:.4f}" for name in METRICS)
    return f"{values}  fit {found['fit_seconds']:.1f} s  {runs[0]['params']}"


def main(arguments: list[str] | None = None) -> None:
    """Read the command line and run."""
    parser = argparse.ArgumentParser(description="Compositions of loss, backbone and sampler, tuned alike.")
    parser.add_argument("train", help="a file of Interactions.save_npz")
    parser.add_argument("--test", help="the test part of a published split")
    parser.add_argument(
        "--compositions", default=",".join(LOSS_NAMES), help="loss/backbone/sampler, with commas between"
    )
    parser.add_argument("--metric", default="ndcg@10", help="what chooses on validation data; map@10 for links")
    parser.add_argument("--by-time", action="store_true", help="leave each user's last item out, as sequences want it")
    parser.add_argument("--trials", type=int, default=16, help="fits of tuning per composition and seed")
    parser.add_argument("--seeds", default="0", help="with commas between")
    parser.add_argument("--epochs", type=int)
    parser.add_argument("--users", type=int, default=USERS, help="in a step, or as many pairs as they have")
    parser.add_argument("--set", action="append", default=[], help="a parameter that is not searched, name=number")
    parser.add_argument("--choose", action="append", default=[], help="values to search over instead, name=a,b,c")
    parser.add_argument("--jobs", type=int, default=1, help="processes at a time")
    parser.add_argument("--json", required=True, help="file for the results")
    given = parser.parse_args(arguments)
    params = tuple((name, _number(value)) for name, _, value in (text.partition("=") for text in given.set))
    choices = tuple((name, _choice(values)) for name, _, values in (text.partition("=") for text in given.choose))
    with tempfile.TemporaryDirectory() as folder:
        first = Job(
            composition="",
            train=given.train,
            test=given.test,
            metric=given.metric,
            by_time=given.by_time,
            trials=given.trials,
            seeds=tuple(int(seed) for seed in given.seeds.split(",")),
            epochs=given.epochs,
            users=given.users,
            params=params,
            choices=choices,
            name=Path(given.train).stem,
            file="",
        )
        jobs = [
            replace(first, composition=name, file=str(Path(folder) / f"{name.replace('/', '+')}.json"))
            for name in given.compositions.split(",")
        ]
        run_jobs(jobs, at_once=given.jobs, out=Path(given.json))


def _choice(texts: str) -> Choice:
    return Choice(tuple(_number(text) for text in texts.split(",")))


def _number(text: str) -> float | int:
    return int(text) if text.lstrip("-").isdigit() else float(text)


if __name__ == "__main__":
    main()
