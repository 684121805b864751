"""A server process: its socket, its signals, and several of them side by side."""

from __future__ import annotations

import errno
import logging
import multiprocessing
import os
import shutil
import signal
import socket
import sys
import tempfile
import time
from collections.abc import Callable
from multiprocessing.process import BaseProcess
from threading import Thread
from typing import Any

from taylorank.errors import ParameterError, TaylorankError, in_one_line
from taylorank.serving.settings import Settings

log = logging.getLogger("taylorank.serving")
BACKLOG = 2_048
DRAIN_SECONDS = 30
KEEP_ALIVE_SECONDS = 75  # longer than a proxy keeps a connection, so that it is the proxy that closes it
SWITCH_SECONDS = 0.0005  # that a request waits for the thread that reads a new model
RESTART_SECONDS = (0.5, 30.0)  # the first and the longest wait before a worker that ended is started again


def bound_socket(host: str, port: int) -> socket.socket:
    """Return a socket at this address that does not listen yet; port 0 takes a free one."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        bound = socket.socket(family, kind, protocol)
        try:
            bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            bound.bind(address)
        except BaseException:
            bound.close()
            raise
    except (OSError, OverflowError) as error:
        number = getattr(error, "errno", None)
        if number == errno.EADDRINUSE:
            raise ParameterError(f"port {port} of {host} is in use", "choose another with --port") from None
        if number in (errno.EACCES, errno.EPERM):
            raise ParameterError(f"port {port} needs more rights", "choose one from 1024 on with --port") from None
        reason = getattr(error, "strerror", None) or str(error)
        raise ParameterError(f"cannot listen at {host}, port {port} ({reason})", "check --host and --port") from None
    bound.set_inheritable(True)
    return bound


def address_of(bound: socket.socket) -> str:
    """Return the address as a browser takes it."""
    host, port = bound.getsockname()[:2]
    return f"http://{f'[{host}]' if ':' in host else host}:{port}/"


def run_one(settings: Settings, bound: socket.socket, *, loaded: Callable[[], object] = lambda: None) -> None:
    """Answer requests until SIGTERM or SIGINT, then finish those that have begun; `loaded` is called before."""
    import uvicorn
    from threadpoolctl import threadpool_limits

    from taylorank.serving.application import Server
    from taylorank.serving.punctual import punctual

    if hasattr(signal, "SIGHUP"):
        signal.signal(signal.SIGHUP, signal.SIG_IGN)  # until there is something to look at again
    threadpool_limits(1, user_api="blas")  # its threads would wait by spinning, where products are small
    sys.setswitchinterval(SWITCH_SECONDS)
    app = Server(settings)
    config = uvicorn.Config(
        app, log_config=None, access_log=False, server_header=False, ws="none", lifespan="on", backlog=BACKLOG,
        http=punctual(settings.timeout), timeout_keep_alive=KEEP_ALIVE_SECONDS, timeout_graceful_shutdown=DRAIN_SECONDS,
    )  # fmt: skip
    server = uvicorn.Server(config)
    for number in (signal.SIGTERM, signal.SIGINT):  # before uvicorn takes them over, and again when it has drained
        signal.signal(number, lambda *_: setattr(server, "should_exit", True))
    loaded()
    server.run(sockets=[bound])


def _worker(settings: Settings, bound: socket.socket, ready: Any, num_threads: int) -> None:
    """Run in a process of its own."""
    log_to_stderr()
    Thread(target=_end_with_parent, daemon=True).start()
    os.environ.setdefault("TAYLORANK_NUM_THREADS", str(num_threads))
    try:
        run_one(settings, bound, loaded=ready.set)
    except TaylorankError as error:
        print(f"taylorank: {in_one_line(error)}", file=sys.stderr, flush=True)
        sys.exit(2)


def _end_with_parent() -> None:
    """Do not hold the port when the process that started this one was killed."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os.kill(os.getpid(), signal.SIGTERM)


def log_to_stderr() -> None:
    """Write warnings and what the server reports to the standard error, a line each."""
    logging.basicConfig(level=logging.WARNING, format="%(asctime)s %(levelname)s %(message)s", stream=sys.stderr)


class Workers:
    """Several processes that listen at one socket. One that ends by itself is started again."""

    def __init__(
        self, settings: Settings, bound: socket.socket, count: int, *, loaded: Callable[[], object] = lambda: None
    ) -> None:
        self.settings, self.bound, self.count, self.loaded = settings, bound, count, loaded
        self.context = multiprocessing.get_context("spawn")  # threads of other libraries do not survive a fork
        self.stopping = False
        self.folder = tempfile.mkdtemp(prefix="taylorank-metrics-")
        os.environ["PROMETHEUS_MULTIPROC_DIR"] = self.folder  # where workers keep their counters

    def run(self) -> int:
        """Return the exit status once all have ended."""
        for name in ("SIGTERM", "SIGINT", "SIGHUP"):
            if hasattr(signal, name):
                signal.signal(getattr(signal, name), self._signalled)
        try:
            self.started = [self._start() for _ in range(self.count)]
            return self._watch()
        finally:
            self._end_all()
            shutil.rmtree(self.folder, ignore_errors=True)

    def _start(self) -> tuple[BaseProcess, Any]:
        ready = self.context.Event()
        share = max(1, (os.cpu_count() or 1) // self.count)
        process = self.context.Process(target=_worker, args=(self.settings, self.bound, ready, share), daemon=True)
        process.start()
        return process, ready

    def _signalled(self, number: int, _: Any) -> None:
        self.stopping = self.stopping or number != signal.SIGHUP
        for process, ready in getattr(self, "started", ()):
            if number == signal.SIGHUP and not ready.is_set():  # it is about to read the files anyway
                continue
            if process.is_alive() and process.pid is not None:
                os.kill(process.pid, signal.SIGHUP if number == signal.SIGHUP else signal.SIGTERM)

    def _watch(self) -> int:
        wait, again, is_said = RESTART_SECONDS[0], 0.0, False
        while not self.stopping:
            if not is_said and all(ready.is_set() for _, ready in self.started):
                self.loaded()
                is_said = True
            for place, (process, ready) in enumerate(self.started):
                if process.is_alive() or self.stopping:
                    continue
                if not ready.is_set() and process.exitcode == 2 and not again:
                    return 2  # it cannot start at all, and has said why
                if time.monotonic() >= again:
                    log.error("worker %s ended with %s; another is started", process.pid, process.exitcode)
                    self._forget(process)
                    self.started[place] = self._start()
                    again, wait = time.monotonic() + wait, min(2 * wait, RESTART_SECONDS[1])
            if again and time.monotonic() > again + 60:
                wait = RESTART_SECONDS[0]
            time.sleep(0.1)
        return 0

    def _forget(self, process: BaseProcess) -> None:
        from prometheus_client import multiprocess

        multiprocess.mark_process_dead(process.pid, self.folder)  # type: ignore[no-untyped-call]

    def _end_all(self) -> None:
        until = time.monotonic() + DRAIN_SECONDS + 5
        for process, _ in getattr(self, "started", ()):
            if process.is_alive():
                process.terminate()
        for process, _ in getattr(self, "started", ()):
            process.join(max(0.0, until - time.monotonic()))
            if process.is_alive():
                process.kill()
