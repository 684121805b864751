"""The softmax family against itself: every composition tuned with the same budget, on one protocol.

Needs torch, and nothing else beyond NumPy and SciPy, so that it runs where little is installed; each composition is a
process of its own, several at a time. The data is a file of `Interactions.save_npz`, or two for a published split.

    python -m research.bench softmax-family ml-1m.npz --compositions bpr,bpr/lightgcn --trials 16 --json out.json
    python -m research.bench softmax-family gowalla-train.npz --test gowalla-test.npz --users 1024 --json gowalla.json
"""

from __future__ import annotations

import math
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, replace
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from research.options import numbers, pairs, value_of
from taylorank import backbones, losses
from taylorank.data import Interactions
from taylorank.models.recommender import Recommender
from taylorank.ranking.protocols import EvaluationProtocol, LeaveOneOut, PublishedSplit, Ratio
from taylorank.registry import model_named
from taylorank.report.record import Record
from taylorank.report.words import further_sentences, lead_sentence
from taylorank.selection import Comparison, compare
from taylorank.selection.comparison import join_comparisons
from taylorank.selection.ranges import Choice, Range, Space
from taylorank.selection.spaces import neural_space
from taylorank.training import Neural

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
    command: str
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
    in_pairs = losses.get(loss).batch_of == "pairs" and backbones.get(backbone).takes == "users"
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
    """Tune, fit and test one composition; return the file of the record, with each user's values beside it."""
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
        per_user=True,
        name=job.name,
        command=job.command,
    )
    return job.file


def run_jobs(
    jobs: list[Job], *, at_once: int, out: Path | None, log_line: Callable[[str], object], per_user: bool = False
) -> Record:
    """Run the jobs, some at a time, and return what they found; after each, `out` holds all that is done."""
    began, done = time.perf_counter(), []
    with ProcessPoolExecutor(at_once, mp_context=get_context("spawn")) as pool:
        waiting = {pool.submit(run_job, job): job for job in jobs}
        for future in as_completed(waiting):
            done.append(future.result())
            whole = join_comparisons([Comparison.load(file) for file in done])
            if out is not None:
                whole.save(out, per_user=per_user)
            name = waiting[future].composition
            log_line(f"{time.perf_counter() - began:6.0f} s  {name}: {result_text(whole.record, name)}")
    return whole.record


def result_text(record: Record, name: str) -> str:
    """Describe the result of a composition in a line."""
    found = record["summary"]["models"][name]
    if "metrics" not in found:
        return str(found["error"])
    runs = [run for run in record["runs"] if run["model"] == name]
    values = "  ".join(f"{name} {found['metrics'][name]['mean']:.4f}" for name in METRICS)
    return f"{values}  fit {found['fit_seconds']:.1f} s  {runs[0]['params']}"


def run(
    train: Path,
    /,
    *,
    test: Path | None = None,
    compositions: str = ",".join(losses.names()),
    metric: str = "ndcg@10",
    by_time: bool = False,
    trials: int = 16,
    seeds: str = "0",
    epochs: int | None = None,
    users: int = USERS,
    set: list[str] | None = None,
    choose: list[str] | None = None,
    jobs: int = 1,
    per_user: bool = False,
    file: Path | None = None,
    command: str = "",
    log_line: Callable[[str], object] = print,
) -> Record:
    """Tune, fit and test every composition.

    Parameters
    ----------
    train
        A file of Interactions.save_npz.
    test
        The test part of a published split.
    compositions
        loss/backbone/sampler, with commas between.
    metric
        What chooses on validation data; map@10 for links.
    by_time
        Leave each user's last item out, as sequences want it.
    trials
        Fits of tuning per composition and seed.
    seeds
        With commas between.
    users
        In a step, or as many pairs as they have.
    set
        A parameter that is not searched, name=value; may be repeated.
    choose
        Values to search over instead, name=a,b,c; may be repeated.
    jobs
        Processes at a time.
    per_user
        Keep each user's values beside the file, to test other models against these later.
    """
    with tempfile.TemporaryDirectory() as folder:
        first = Job(
            composition="",
            train=str(train),
            test=None if test is None else str(test),
            metric=metric,
            by_time=by_time,
            trials=trials,
            seeds=numbers(seeds, "--seeds"),
            epochs=epochs,
            users=users,
            params=tuple(pairs(set or (), "--set").items()),
            choices=tuple((name, _choice(str(values))) for name, values in pairs(choose or (), "--choose").items()),
            name=train.stem,
            command=command,
            file="",
        )
        given = [
            replace(first, composition=name, file=str(Path(folder) / f"{name.replace('/', '+')}.json"))
            for name in compositions.split(",")
        ]
        return run_jobs(given, at_once=jobs, out=file, log_line=log_line, per_user=per_user)


def _choice(texts: str) -> Choice:
    return Choice(tuple(map(value_of, texts.split(","))))


def describe(record: Record) -> list[str]:
    """Name the best composition."""
    return [lead_sentence(record), *further_sentences(record)]
