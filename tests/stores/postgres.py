"""A PostgreSQL server of the tests' own, on a Unix socket in a temporary folder."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


def programs() -> Path | None:
    """The folder of the server's programs, the newest of Debian's, or None."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[-3]))
    named = shutil.which("initdb")
    return found[-1].parent if found else Path(named).parent if named else None


@contextmanager
def server() -> Iterator[str]:
    """Start a server, yield its connection string, stop it; skip where there is none."""
    folder = programs()
    if folder is None:
        pytest.skip("PostgreSQL is not installed")
    as_user = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []  # it refuses to run as root
    place = Path(tempfile.mkdtemp(prefix="pg-"))  # short: a socket's path has at most 107 bytes
    if as_user:
        shutil.chown(place, "postgres")

    def call(program: str, *words: str) -> None:
        command = [*as_user, str(folder / program), *words]
        done = subprocess.run(command, cwd=place, capture_output=True, text=True, timeout=60, check=False)
        if done.returncode:
            log = place / "log"
            pytest.fail(f"{program}: {done.stderr} {log.read_text() if log.exists() else ''}")

    data = str(place / "data")
    try:
        call("initdb", "-D", data, "-U", "tester", "--auth=trust", "--no-sync", "--encoding=UTF8", "--locale=C")
        settings = f"-c listen_addresses='' -c unix_socket_directories={place} -c fsync=off -c max_connections=8"
        call("pg_ctl", "-D", data, "-l", str(place / "log"), "-w", "-t", "30", "-o", settings, "start")
        try:
            yield f"host={place} user=tester dbname=postgres"
        finally:
            call("pg_ctl", "-D", data, "-w", "-m", "immediate", "stop")
    finally:
        shutil.rmtree(place, ignore_errors=True)
