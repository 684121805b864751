"""Servers as processes of their own, on free ports of this machine."""

from __future__ import annotations

import contextlib
import http.client
import json
import re
import signal
import subprocess
import sys
import time

TAYLORANK = (sys.executable, "-c", "from taylorank.cli import main; main()")
SECONDS = 60  # that a server may take to start or to end on a busy machine


class Running:
    """A `taylorank serve` that has said where it listens."""

    def __init__(self, *arguments: str, port: int = 0) -> None:
        command = [*TAYLORANK, "serve", *map(str, arguments), "--port", str(port)]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        line = self.process.stdout.readline()
        found = re.search(r":(\d+)/", line)
        assert found, (line, self.process.communicate(timeout=SECONDS))
        self.port = int(found[1])

    def connection(self, timeout=SECONDS):
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)

    def ask(self, method, target, body=None):
        connection = self.connection()
        with contextlib.closing(connection):
            connection.request(method, target, None if body is None else json.dumps(body))
            reply = connection.getresponse()
            return reply.status, reply.read()

    def ready(self):
        """Wait until it answers."""
        end = time.monotonic() + SECONDS
        while time.monotonic() < end:
            with contextlib.suppress(OSError):
                return json.loads(self.ask("GET", "/health/ready")[1])
            assert self.process.poll() is None, self.process.communicate()
            time.sleep(0.05)
        raise AssertionError("it does not answer")

    def until(self, holds):
        """Wait until something is so."""
        end = time.monotonic() + SECONDS
        while not holds():
            assert time.monotonic() < end
            time.sleep(0.05)

    def stop(self, number=signal.SIGTERM):
        self.process.send_signal(number)
        return self.ended()

    def ended(self):
        """Return the exit status and what was written to the standard error."""
        _, errors = self.process.communicate(timeout=SECONDS)
        return self.process.returncode, errors

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.process.stdout.close()
        self.process.stderr.close()
