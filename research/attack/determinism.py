"""The same bits twice: for any number of threads and CPUs, hash seed, size of the blocks of a file, and SIMD level.

A case is a piece of work whose result is known by its digest. It is done here, and once more in a process that differs
in what must not matter. Kernels that promise the same bits at every SIMD level are compared level by level.
"""

from __future__ import annotations

import hashlib
import inspect
import os
import subprocess
import sys
import warnings
from contextlib import suppress
from functools import lru_cache
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

import taylorank as tr
from research.attack import Difference
from research.attack.arrays import WIDTHS, numbers, sparse_rows
from research.attack.trial import is_sanitized
from taylorank.data import bytesource, read_interactions
from taylorank.errors import ParameterError
from taylorank.kernels import backend
from taylorank.registry import MODELS

ROOT = Path(__file__).resolve().parents[2]
FACTORS = (3, 16, 64, 96, 160)
SECONDS = 50.0


def attack(seed: int, folder: Path) -> str:
    """Do one piece of work twice."""
    rng = np.random.default_rng(seed)
    way = rng.random()
    if way < 0.6:
        return _levels(rng) if way < 0.4 else _pieces(rng)
    here, there = digest(seed), _elsewhere(seed)
    if here != there:
        raise Difference(f"{describe(seed)}: {here[:12]} here, {there[:12]} with {_surroundings(seed)}")
    return "result"


def digest(seed: int) -> str:
    """Return the digest of what a model finds, or of what is read from a file."""
    rng = np.random.default_rng([seed, 1])
    warnings.simplefilter("ignore")
    if rng.random() < 0.3:
        return _digest_of_reading(rng)
    data, model = data_of(rng), model_of(rng)
    if isinstance(model, tr.Neural):  # whose sums depend on the number of threads of torch, and on nothing else
        import torch

        torch.set_num_threads(1)
    return digest_of(model, data)


def digest_of(model: Any, data: Any) -> str:
    """Fit a model; return the digest of its factors, lists and metrics."""
    ids, scores = model.fit(data).recommend(data.user_ids[:50], n=7)
    measured = tr.evaluate(model, data, k=5, seen=[])
    parts = [getattr(model, side, None) for side in ("user_factors", "item_factors")]
    folded: Any = ()
    if hasattr(model, "fold_in"):
        with suppress(ParameterError):  # of what learns users by descent
            folded = model.fold_in(data).recommend(data.user_ids[:9], n=3)
    return _digest([*(part for part in parts if part is not None), ids, scores, *folded, repr(measured)])


def describe(seed: int) -> str:
    """Return in words what the work of a seed is."""
    rng = np.random.default_rng([seed, 1])
    if rng.random() < 0.3:
        return "reading"
    data_of(rng)
    return repr(model_of(rng))[:120]


def data_of(rng: np.random.Generator) -> Any:
    """Return small interactions."""
    users, items = int(rng.choice([200, 700])), int(rng.choice([170, 500]))
    return tr.planted(users, items, interactions=12 * users, random_state=int(rng.integers(100)))


def model_of(rng: np.random.Generator) -> Any:
    """Return any model, with other parameters than its defaults."""
    kind = MODELS[str(rng.choice(list(MODELS)))]
    known = inspect.signature(kind).parameters
    given: dict[str, Any] = {"factors": int(rng.choice(FACTORS)), "iterations": 2, "steps": 5, "batch_size": 128}
    given["epochs"] = 2
    if "loss" in known:
        given |= {"loss": str(rng.choice(losses())), "backbone": str(rng.choice(["mf", "lightgcn"]))}
    elif "teacher" in known:
        given["teacher"] = tr.RG2(factors=16)
    if rng.random() < 0.5:
        given["neighbours"] = int(rng.choice([1, 20, 150]))
    return kind(**{name: value for name, value in given.items() if name in known})


@lru_cache(maxsize=1)
def losses() -> list[str]:
    """Return the losses that networks learn by; without torch the default one, which is refused."""
    try:
        from taylorank.losses import names
    except ImportError:
        return ["softmax"]
    return list(names())


def _digest_of_reading(rng: np.random.Generator) -> str:
    rows = [f"u{a},{b},{a * b % 7}" for a, b in rng.integers(0, 90, (400, 2)).tolist()]
    text = "user,item,strength\n" + "\n".join(rows) + '\n"two\nlines",3,1\n'
    bytesource.BLOCK_BYTES = int(os.environ.get("ATTACK_BLOCK_BYTES", 1 << 23))
    data = read_interactions(BytesIO(text.encode()), strength="strength", ids="text")
    train, test = data.split((0.7, 0.3), seed=1)
    parts = [data.user_ids, data.by_user.indices, np.asarray(data.strengths)]
    return _digest([*parts, train.by_user.indices, test.by_user.indices])


def _digest(parts: list[Any]) -> str:
    found = hashlib.sha256()
    for part in parts:
        plain = part if isinstance(part, str) else repr(part.tolist()) if part.dtype.kind in "OTU" else None
        found.update(np.ascontiguousarray(part).tobytes() if plain is None else plain.encode())
    return found.hexdigest()


def _surroundings(seed: int) -> dict[str, str]:
    """Return an environment that must not matter; the same for a seed."""
    rng = np.random.default_rng([seed, 2])
    return {
        "PYTHONHASHSEED": str(rng.integers(1, 1000)),
        "TAYLORANK_NUM_THREADS": str(rng.choice([1, 2, 5, 64])),
        "ATTACK_BLOCK_BYTES": str(rng.choice([7, 100, 5000])),
        "ATTACK_CPUS": str(rng.choice(["first", "last", "all"])),
    }


def _elsewhere(seed: int) -> str:
    around = _surroundings(seed)
    cpus = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
    code = f"from research.attack.determinism import digest\nprint(digest({seed}))"
    words = [sys.executable, "-c", code]
    if cpus and around["ATTACK_CPUS"] != "all":  # before NumPy is loaded: BLAS counts them then
        one = cpus[0] if around["ATTACK_CPUS"] == "first" else cpus[-1]
        words[2] = f"import os\nos.sched_setaffinity(0, {{{one}}})\n{code}"
    environment = {name: value for name, value in os.environ.items() if not name.endswith("_NUM_THREADS")}
    done = subprocess.run(
        words, cwd=ROOT, env={**environment, **around}, capture_output=True, text=True, timeout=SECONDS, check=False
    )
    if done.returncode:
        raise Difference(f"{describe(seed)} fails elsewhere: {done.stderr.strip()[-200:]}")
    return done.stdout.strip()


def _levels(rng: np.random.Generator) -> str:
    """Sums of gathered rows and scores of pairs at every SIMD level; lists at those with fused multiply-add."""
    if backend.native is None:
        return "refused"
    (indptr, indices, columns), width = sparse_rows(rng), int(rng.choice(WIDTHS))
    dtype = np.dtype(str(rng.choice(["float32", "float64"])))
    items, users = numbers(rng, (columns, width), dtype), numbers(rng, (len(indptr) - 1, width), dtype)
    threads = 1 if is_sanitized() else int(rng.choice([1, 3, 8]))
    sums, scores, lists = set(), set(), set()
    for level in backend.native.simd_levels():
        out, of_pairs = np.empty_like(users), np.empty(len(indices), dtype=dtype)
        backend.native.gather_sum(indptr, indices, items, None, out, level, threads)
        backend.native.nonzero_scores(indptr, indices, users, items, of_pairs, level, threads)
        sums.add(out.tobytes())
        scores.add(of_pairs.tobytes())
        if level != "baseline":
            lists.add(_lists(users.astype(np.float32), items.astype(np.float32), level, threads))
    if max(len(sums), len(scores), len(lists)) > 1:
        raise Difference(f"levels differ: {users.shape} and {items.shape} of {dtype}")
    return "result"


def _pieces(rng: np.random.Generator) -> str:
    """The native kernels in pieces of any size: the same bits."""
    if backend.native is None:
        return "refused"
    (indptr, indices, columns), width = sparse_rows(rng), int(rng.choice(WIDTHS))
    level = str(rng.choice(backend.native.simd_levels()))
    items, users = numbers(rng, (columns, width)), numbers(rng, (len(indptr) - 1, width))
    found = set()
    for size in (0, *rng.integers(1, 60, 3).tolist()):
        out, of_pairs = np.empty_like(users), np.empty(len(indices), dtype=np.float32)
        backend.native.gather_sum(indptr, indices, items, None, out, level, 2, chunk_items=size, band_rows=size)
        backend.native.nonzero_scores(indptr, indices, users, items, of_pairs, level, 2, chunk_items=size)
        found.add(out.tobytes() + of_pairs.tobytes() + _lists(users, items, level, 2, tile_users=size))
    if len(found) > 1:
        raise Difference(f"pieces differ: {users.shape} and {items.shape} at {level}")
    return "result"


def _lists(users: Any, items: Any, level: str, threads: int, tile_users: int = 0) -> bytes:
    ids, scores = np.empty((len(users), 4), dtype=np.int64), np.empty((len(users), 4), dtype=np.float32)
    panels = backend.native.ItemPanels(items, None, level, threads)  # type: ignore[union-attr]
    backend.native.top_k(  # type: ignore[union-attr]
        users, panels, None, None, None, None, None, ids, scores, threads, tile_users=tile_users
    )
    return ids.tobytes() + scores.tobytes()
