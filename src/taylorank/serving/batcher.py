"""Requests that come at the same time are ranked together: one pass over the items serves them all.

Nothing waits for company. Requests that are read in one turn of the event loop, or while another batch is ranked, make
the next batch. A batch that takes less than a millisecond is ranked in the event loop, where handing it to a thread
would cost as much; others go to a thread, with the kernels' own threads below it.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

from taylorank.kernels import threads
from taylorank.serving.lists import best_of
from taylorank.serving.metrics import Metrics
from taylorank.serving.problems import Refused
from taylorank.serving.query import Query
from taylorank.serving.reasons import Reasons, reasons_of
from taylorank.serving.served import Served

MOST_TOGETHER = 32
MOST_WAITING = 20_000
INLINE_SECONDS = 0.002  # of one batch, as a rule
SLOW_START = 0.01  # what a model is thought to take before it has been measured


@dataclass(frozen=True, slots=True)
class Ranked:
    """The list of one query: columns, scores, and the reasons of each where they were asked for."""

    columns: list[int]
    scores: list[float]
    reasons: list[Reasons]


@dataclass(slots=True)
class Waiting:
    """A query, and where its list is waited for."""

    query: Query
    answer: asyncio.Future[Ranked]
    since: float


class Batcher:
    """Ranks queries for one event loop."""

    def __init__(self, metrics: Metrics, *, timeout: float, num_threads: int | None) -> None:
        self.metrics, self.timeout, self.num_threads = metrics, timeout, num_threads
        self.light: list[Waiting] = []
        self.heavy: list[Waiting] = []
        self.pool = ThreadPoolExecutor(2, thread_name_prefix="rank")
        self.in_thread = {False: False, True: False}  # of the light and of the heavy queries
        self.scheduled = False
        self.seconds: WeakKeyDictionary[Served, float] = WeakKeyDictionary()  # of a batch

    def submit(self, query: Query) -> asyncio.Future[Ranked]:
        """Return where the list of a query will be."""
        if len(self.light) + len(self.heavy) >= MOST_WAITING:
            raise busy()
        loop = asyncio.get_running_loop()
        waiting = Waiting(query, loop.create_future(), time.monotonic())
        (self.light if query.is_light else self.heavy).append(waiting)
        if not self.scheduled:
            self.scheduled = True
            loop.call_soon(self._flush)
        return waiting.answer

    def _flush(self) -> None:
        self.scheduled = False
        self.metrics.queue.set(len(self.light) + len(self.heavy))
        if self.light and not self.in_thread[False]:
            batch = self._next(self.light, MOST_TOGETHER)
            if batch and self.seconds.get(batch[0].query.served, SLOW_START) < INLINE_SECONDS:
                self._settle(self._ranked(batch, num_threads=1))
            elif batch:
                self._in_thread(batch, is_heavy=False)
        if self.heavy and not self.in_thread[True]:
            batch = self._next(self.heavy, 1)
            if batch:
                self._in_thread(batch, is_heavy=True)
        self._again()

    def _again(self) -> None:
        """Come back for what is left, after what has arrived meanwhile has been read."""
        free = (self.light and not self.in_thread[False]) or (self.heavy and not self.in_thread[True])
        if free and not self.scheduled:
            self.scheduled = True
            asyncio.get_running_loop().call_soon(self._flush)

    def _next(self, queue: list[Waiting], most: int) -> list[Waiting]:
        """Take queries of one model from the front of a queue; those that nobody waits for, or too long, are left."""
        now, taken = time.monotonic(), 0
        batch: list[Waiting] = []
        for waiting in queue:
            if batch and (len(batch) >= most or waiting.query.served is not batch[0].query.served):
                break
            taken += 1
            if waiting.answer.done():  # the client is gone
                continue
            if now - waiting.since > self.timeout:
                waiting.answer.set_exception(busy())
                continue
            batch.append(waiting)
        del queue[:taken]
        return batch

    def _in_thread(self, batch: list[Waiting], *, is_heavy: bool) -> None:
        self.in_thread[is_heavy] = True
        work = asyncio.get_running_loop().run_in_executor(self.pool, self._ranked, batch, self.num_threads)

        def done(found: asyncio.Future[list[tuple[Waiting, Any]]]) -> None:
            self.in_thread[is_heavy] = False
            if not found.cancelled():
                self._settle(found.result())
            self._again()

        work.add_done_callback(done)

    @staticmethod
    def _settle(found: Sequence[tuple[Waiting, Any]]) -> None:
        for waiting, result in found:
            if waiting.answer.done():
                continue
            if isinstance(result, BaseException):
                waiting.answer.set_exception(result)
            else:
                waiting.answer.set_result(result)

    def _ranked(self, batch: list[Waiting], num_threads: int | None) -> list[tuple[Waiting, Any]]:
        """Rank a batch group by group; what goes wrong in a group is the answer of its queries."""
        began = time.perf_counter()
        groups: dict[Any, list[Waiting]] = {}
        for waiting in batch:
            groups.setdefault(waiting.query.group, []).append(waiting)
        found: list[tuple[Waiting, Any]] = []
        with threads(num_threads):
            for group in groups.values():
                found += _ranked_group(group, num_threads)
        if batch[0].query.is_light:
            served, took = batch[0].query.served, time.perf_counter() - began
            before = self.seconds.get(served, took)
            self.seconds[served] = min(took, 0.9 * before + 0.1 * took)  # what others do to this machine does not count
        self.metrics.batch.observe(len(batch))
        return found


def _ranked_group(group: list[Waiting], num_threads: int | None) -> list[tuple[Waiting, Any]]:
    try:
        columns, scores = best_of([waiting.query for waiting in group], num_threads=num_threads)
        return [
            (waiting, _cut(waiting.query, columns[row].tolist(), scores[row].tolist()))
            for row, waiting in enumerate(group)
        ]
    except Exception as error:  # it belongs to these requests alone
        return [(waiting, error) for waiting in group]


def _cut(query: Query, columns: list[int], scores: list[float]) -> Ranked:
    """Return the n best without padding."""
    columns = columns[: query.n]
    while columns and columns[-1] < 0:
        columns.pop()
    return Ranked(columns, scores[: len(columns)], reasons_of(query, columns) if query.explain else [])


def busy() -> Refused:
    """Return the answer of a server that has more to do than it can."""
    return Refused(503, "the server is busy", "try again in a second", headers={"retry-after": "1"})
