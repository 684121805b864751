"""Several at once: two writers of one output, forks after threads, processes that are spawned, threads on one model."""

from __future__ import annotations

import concurrent.futures
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import taylorank as tr
from research.attack import Crash, Difference, Hang
from research.attack.commands import COMMANDS, contents, judged, left_behind, run_command
from research.attack.forks import Child, Report
from research.attack.operations import TURNS, digest
from taylorank.errors import TaylorankError

SPAWNED = """
import multiprocessing, sys
import taylorank as tr

def lists(model):
    return model.recommend([1, 2, 3], n=5)[0].tolist()

if __name__ == "__main__":
    model = tr.load("a.tr")
    tr.read_interactions("log.csv")
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.map(lists, [model], chunksize=1) == [lists(model)]
        print(tr.read_interactions("log.csv").nnz)
"""


def two_writers(folder: Path, rng: random.Random) -> None:
    """Run the same command twice at the same time; both end well, or the second in one line, and the file is whole."""
    command = rng.choice(tuple(COMMANDS))
    there = {one.name for one in folder.iterdir()}

    def work(report: Report) -> None:
        report(run_command(command))

    writers = [Child(work, folder) for _ in range(2)]
    for writer in writers:
        ended = writer.wait()
        if ended.code != 0:
            raise Crash(f"{command}, twice: exit code {ended.code}: {ended.said[-200:]}")
        code, said = ended.reports[0]
        judged(f"{command}, twice", code, said)
    judged(command, *run_command(command), allowed=(0,))
    if any(content is None for content in contents(command).values()):
        raise Difference(f"{command}, twice: an output is missing")
    if left := left_behind(command, there):
        raise Difference(f"{command}, twice: left behind {left}")


def two_models(folder: Path, rng: random.Random) -> None:
    """Save different models to one file from two processes: the file is always one of them."""

    def save(names: str) -> Callable[[Report], None]:
        def work(report: Report) -> None:
            models = [tr.load(f"{name}.tr") for name in names]
            for turn in range(10):
                models[turn % len(models)].save("out")

        return work

    writers = [Child(save(names), folder) for names in ("ab", "c")]
    whole = {digest(f"{name}.tr") for name in TURNS} | {None}
    while not all(writer.poll(0.002) for writer in writers):
        if digest("out") not in whole:
            raise Difference("a file that two processes write is neither's")
    for writer in writers:
        if writer.wait().code:
            raise Difference("one of two writers failed")
    if digest("out") not in whole - {None} or any(one.name.endswith(".part") for one in folder.iterdir()):
        raise Difference("two writers left something else")


def fork_after_threads(folder: Path, rng: random.Random) -> None:
    """Use everything with threads, fork, and use it again: it answers or says why not."""
    model, data = tr.load("a.tr"), tr.Interactions.load_npz("log.npz")
    _write_log(data)
    tr.read_interactions("log.csv")
    expected = model.recommend([1, 2], n=5)[0].tolist()
    uses = _uses(model, data)
    name = rng.choice(tuple(uses))
    uses[name]()

    def work(report: Report) -> None:
        try:
            report("result" if uses[name]() is not None else "nothing")
        except TaylorankError as error:
            report(str(error))
        if model.recommend([1, 2], n=5)[0].tolist() != expected:
            raise Difference("other lists after a fork")

    ended = Child(work, folder).wait(30)
    if ended.code:
        raise Difference(f"{name} after a fork: exit code {ended.code}: {' '.join(ended.said[-200:].split())}")


def _write_log(data: tr.Interactions) -> None:
    frame = data.to_frame()
    rows = zip(frame["user"].to_list(), frame["item"].to_list(), strict=True)
    Path("log.csv").write_text("user,item\n" + "".join(f"{user},{item}\n" for user, item in rows))


def _uses(model: Any, data: tr.Interactions) -> dict[str, Callable[[], Any]]:
    train, test = data.split((0.8, 0.2), seed=0)
    return {
        "read": lambda: tr.read_interactions("log.csv"),
        "load": lambda: tr.load("b.tr"),
        "fit": lambda: tr.IALS(4, iterations=2).fit(train),
        "fit by SVD": lambda: tr.RG2(4).fit(train),
        "evaluate": lambda: tr.evaluate(model, test, metrics="ndcg@5"),
        "frame": lambda: data.to_frame(),
        "save": lambda: model.save("forked.tr") or True,
        "export": lambda: model.export("parquet", "forked", overwrite=True, sample=5),
    }


def spawned(folder: Path, rng: random.Random) -> None:
    """Hand a model to a process that is started anew."""
    _write_log(tr.Interactions.load_npz("log.npz"))
    Path("spawned.py").write_text(SPAWNED)
    try:
        ended = subprocess.run([sys.executable, "spawned.py"], capture_output=True, text=True, timeout=60, check=False)
    except subprocess.TimeoutExpired:
        raise Hang("a pool of spawned processes does not end") from None
    if ended.returncode:
        raise Difference(f"spawned: {' '.join(ended.stderr[-300:].split())}")


def many_threads(folder: Path, rng: random.Random) -> None:
    """Ask one model from many threads at once: the same answers as one after the other."""
    model = tr.load(f"{rng.choice(TURNS)}.tr")
    data = model.seen
    calls: list[Callable[[], Any]] = [
        lambda: model.recommend([1, 2, 3], n=7),
        lambda: model.similar_items(data.item_ids[:4], n=3),
        lambda: model.fold_in([(7, item) for item in data.item_ids[:3]]).recommend([7], n=4),
        lambda: (tr.evaluate(model, data, metrics="ndcg@5", seen=[])["ndcg@5"],),
        lambda: (tr.IALS(3, iterations=2, random_state=1).fit(data).user_factors,),
        lambda: _saved(model),
    ]
    expected = [_plain(call()) for call in calls]
    order = [rng.randrange(len(calls)) for _ in range(60)]
    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        found = list(pool.map(lambda number: _plain(calls[number]()), order))
    wrong = [number for number, one in zip(order, found, strict=True) if one != expected[number]]
    if wrong:
        raise Difference(f"call {wrong[0]} gives something else in threads")


def _saved(model: Any) -> tuple[Any, ...]:
    model.save("shared.tr")
    return (digest("shared.tr"),)


def _plain(value: Any) -> Any:
    parts = value if isinstance(value, tuple) else (value,)
    return [np.asarray(part).tobytes() if not isinstance(part, str) else part for part in parts]


ALONGSIDE: dict[str, Callable[[Path, random.Random], None]] = {
    "two writers": two_writers,
    "two models": two_models,
    "fork after threads": fork_after_threads,
    "spawn": spawned,
    "many threads": many_threads,
}
