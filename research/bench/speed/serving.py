"""`taylorank serve` over loopback: requests per second and latency, N = 40,000 items, K = 128, two cores for all.

The server is a process of its own, and so is the client (`load`): both are on the same cores, and what the client takes
is stated. Known users, and new users with a history of twenty items, each as fast as it goes over 32 connections and at
500 requests per second. Beside it, on the same factors, what one would write in ten minutes: a FastAPI handler that
calls implicit, where that is installed. Then models are replaced under load, and memory is watched over `minutes`.

    python -m research.bench serving --minutes 10 --json research/records/bench/serving.json
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.request import urlopen

import numpy as np

from research.bench.speed.gather_sum import long_tailed
from research.bench.speed.process import in_own_process
from taylorank.data import Ids, Interactions
from taylorank.machine import describe_machine
from taylorank.models import RG2

USERS, ITEMS, INTERACTIONS, FACTORS = 50_000, 40_000, 2_000_000, 128
HISTORY, N_BEST, BODIES, CONNECTIONS, RATE = 20, 10, 2_000, 32, 500
TARGET_PER_SECOND, TARGET_MS = 1_500, 20.0
OURS, PEER = "taylorank serve", "FastAPI and implicit"
KINDS = ("known user", f"new user, {HISTORY} items")
SERVE = "from taylorank.cli import main; main()"
SERVE_PEER = "import sys; from research.bench.speed.serving_peer import serve; serve(sys.argv[1])"
PATIENCE = 120.0  # seconds for a server to start


def run(*, quick: bool = False, seconds: float = 10.0, minutes: float = 0.5) -> dict[str, Any]:
    """Load the servers; `quick` shrinks the data, `minutes` is how long memory is watched."""
    machine = describe_machine()
    size = (300, 200, 4_000, 16) if quick else (USERS, ITEMS, INTERACTIONS, FACTORS)
    seconds, minutes, rate = (1.0, 0.02, 50) if quick else (seconds, minutes, RATE)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        models = _write_models(folder, *size)
        bodies = _write_bodies(folder, size[0], size[1])
        results: dict[str, Any] = {kind: {} for kind in KINDS}
        with served(folder) as (process, port):
            for kind in KINDS:
                results[kind][OURS] = _loads(port, bodies[kind], seconds, rate)
            replaced = _replaced_under_load(port, folder, models, bodies[KINDS[0]], seconds, rate)
            memory = _memory(process, port, bodies[KINDS[1]], 60 * minutes, rate)
        with peer_served(folder) as peer_port:
            if peer_port is not None:
                for kind in KINDS:
                    results[kind][PEER] = _loads(peer_port, bodies[kind], seconds, rate)
    return {
        "benchmark": "serving",
        **dict(zip(("users", "items", "interactions", "factors"), size, strict=True)),
        "connections": CONNECTIONS,
        "rate": rate,
        "seconds": seconds,
        "machine": machine,
        "results": results,
        "reload": replaced,
        "memory": memory,
    }


def describe(record: dict[str, Any]) -> list[str]:
    """Describe each server by its requests per second and its latency, then reloads and memory."""
    lines = [
        f"{record['items']:,} items, K = {record['factors']}, {record['connections']} connections, client included"
    ]
    targets = f" (targets {TARGET_PER_SECOND:,}/s, {TARGET_MS:g} ms)"
    for kind, found in record["results"].items():
        for name, loads in found.items():
            full, steady = loads["flat out"], loads["at a rate"]
            lines.append(
                f"{kind}, {name}: {full['per_second']:,.0f}/s; at {record['rate']}/s median {steady['p50_ms']:.1f} ms, "
                f"99 % within {steady['p99_ms']:.1f} ms{targets if name == OURS else ''}"
            )
    again, memory = record["reload"], record["memory"]
    lines.append(
        f"{again['reloads']} models replaced under load: {again['lost']} of {again['requests']:,} requests lost, "
        f"{again['refused']} refused, the slowest {again['max_ms']:.0f} ms"
    )
    lines.append(
        f"memory at {record['rate']}/s: {memory['mb'][0]:.0f} MB at the start, {memory['mb'][-1]:.0f} MB after "
        f"{memory['seconds'] / 60:.1f} minutes, at most {max(memory['mb']):.0f} MB"
    )
    return lines


def _write_models(folder: Path, users: int, items: int, interactions: int, factors: int) -> list[Path]:
    """Write two models of random factors; the first also for the peer."""
    rows = long_tailed(interactions, users=users, items=items)
    data = Interactions(rows, Ids(range(rows.n_rows)), Ids(range(rows.n_columns)))
    files = [folder / "first.tr", folder / "second.tr"]
    for seed, file in enumerate(files):
        rng = np.random.default_rng(seed)
        P, Q = (rng.standard_normal((n, factors), dtype=np.float32) / np.float32(8) for n in (users, items))
        model = RG2(factors)
        model.train_, model.user_factors_, model.item_factors_ = data, P, Q
        q = np.maximum(data.item_popularity, 1) ** model.proposal_exponent
        model.proposal_, model.penalty_, model.mean_context_ = q / q.sum(), 1e-3, 50.0
        model.strength_unit_ = 1.0
        model.save(file)
        if not seed:
            np.savez(folder / "peer.npz", users=P, items=Q, indptr=rows.indptr, indices=rows.indices)
    _put(files[0], folder / "model.tr")
    return files


def _put(source: Path, target: Path) -> None:
    """Replace a file at once, as a training job should."""
    copy = target.with_suffix(".part")
    copy.write_bytes(source.read_bytes())
    os.replace(copy, target)


def _write_bodies(folder: Path, users: int, items: int) -> dict[str, Path]:
    rng = np.random.default_rng(0)
    known: list[dict[str, Any]] = [{"user": int(user), "n": N_BEST} for user in rng.integers(users, size=BODIES)]
    chosen = (rng.choice(items, HISTORY, replace=False).tolist() for _ in range(BODIES))
    new = [{"history": [{"item": item} for item in history], "n": N_BEST} for history in chosen]
    files: dict[str, Path] = {}
    for kind, bodies in zip(KINDS, (known, new), strict=True):
        files[kind] = folder / f"{len(files)}.jsonl"
        files[kind].write_text("\n".join(json.dumps(body) for body in bodies))
    return files


@contextlib.contextmanager
def served(folder: Path) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """Run `taylorank serve` on a free port; yield the process and the port."""
    command = [sys.executable, "-c", SERVE, "serve", str(folder / "model.tr"), "--port", "0", "--poll", "0.2"]
    with _ended(command, stderr=subprocess.DEVNULL) as process:
        assert process.stdout is not None
        yield process, _port(process.stdout.readline())


@contextlib.contextmanager
def peer_served(folder: Path) -> Iterator[int | None]:
    """Run the peer; yield its port, or None where implicit or FastAPI is not installed."""
    command = [sys.executable, "-c", SERVE_PEER, str(folder / "peer.npz")]
    with _ended(command, stderr=subprocess.DEVNULL) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        if not line:
            yield None
            return
        port = _port(line)
        _wait(port)
        yield port


@contextlib.contextmanager
def _ended(command: list[str], **options: Any) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, **options)
    try:
        yield process
    finally:
        process.terminate()
        process.wait()
        assert process.stdout is not None
        process.stdout.close()


def _port(line: str) -> int:
    found = re.search(r":(\d+)/", line)
    if found is None:
        raise RuntimeError(f"the server did not start: {line!r}")
    return int(found[1])


def _wait(port: int) -> None:
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        with contextlib.suppress(OSError):
            urlopen(f"http://127.0.0.1:{port}/health/live", timeout=5).close()
            return
        time.sleep(0.1)
    raise RuntimeError("the server does not answer")


def load(port: int, bodies: Path, seconds: float, rate: float) -> dict[str, Any]:
    """Load a server from a process of its own; rate 0 is as fast as it goes."""
    arguments = (str(port), str(bodies), str(seconds), str(rate), str(CONNECTIONS))
    return in_own_process("research.bench.speed.load", *arguments)


def _loads(port: int, bodies: Path, seconds: float, rate: float) -> dict[str, Any]:
    load(port, bodies, min(seconds, 2.0), 0)  # until everything is warm
    return {"flat out": load(port, bodies, seconds, 0), "at a rate": load(port, bodies, seconds, rate)}


def _replaced_under_load(
    port: int, folder: Path, models: list[Path], bodies: Path, seconds: float, rate: float
) -> dict[str, Any]:
    """Replace the model again and again while requests come."""
    before, until = _taken(port), time.monotonic() + seconds

    def replace() -> None:
        count = 0
        while time.monotonic() < until:
            count += 1
            _put(models[count % 2], folder / "model.tr")
            wanted = _taken(port) + 1
            while time.monotonic() < until and _taken(port) < wanted:
                time.sleep(0.1)

    replacing = Thread(target=replace)
    replacing.start()
    found = load(port, bodies, seconds, rate)
    replacing.join()
    refused = sum(count for status, count in found["answers"].items() if status != "200")
    return {**found, "reloads": _taken(port) - before, "refused": refused}


def _taken(port: int) -> int:
    """Return how many files the server has taken in."""
    with urlopen(f"http://127.0.0.1:{port}/metrics", timeout=30) as reply:
        found = re.search(r'taylorank_reloads_total\{[^}]*result="taken"\} ([\d.]+)', reply.read().decode())
    return 0 if found is None else int(float(found[1]))


def _memory(process: subprocess.Popen[str], port: int, bodies: Path, seconds: float, rate: float) -> dict[str, Any]:
    """Sample the resident memory of the server under a steady load."""
    samples = [_resident_mb(process.pid)]
    loading = Thread(target=load, args=(port, bodies, seconds, rate))
    loading.start()
    while loading.is_alive():
        loading.join(max(seconds / 20, 0.1))
        samples.append(_resident_mb(process.pid))
    return {"seconds": seconds, "mb": samples}


def _resident_mb(pid: int) -> float:
    status = Path(f"/proc/{pid}/status").read_text()
    found = re.search(r"VmRSS:\s+(\d+) kB", status)
    assert found is not None
    return round(int(found[1]) / 1024, 1)
