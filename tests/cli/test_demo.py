"""`taylorank demo` as a person starts it: a process that fits, serves, opens the page, and leaves nothing behind."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from urllib.request import Request, urlopen

import pytest

from taylorank.cli.demo import FIRST_WORDS, page_of
from taylorank.data import datasets
from tests.cli.command import run

pytest.importorskip("fastapi", reason="needs the extra serve")
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals of Unix")
SECONDS = 60


@contextmanager
def started(folder, *arguments, **environment):
    command = (sys.executable, "-c", "from taylorank.cli import main; main()", "demo", "--factors", "8", *arguments)
    variables = {**os.environ, "TMPDIR": str(folder), **environment}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=variables)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def address_of(process):
    shown = [process.stdout.readline() for _ in range(2)]
    assert re.match(r"fitted RG2 of rank 8 to 403,614 pairs of words in [\d.]+ s", shown[0]), process.stderr.read()
    return re.search(r"explore it at (http://127\.0\.0\.1:\d+/)", shown[1])[1]


def until(holds):
    end = time.monotonic() + SECONDS
    while True:
        try:
            if found := holds():
                return found
        except OSError:
            pass
        assert time.monotonic() < end
        time.sleep(0.05)


def test_it_serves_a_model_of_words_with_its_path_and_ends_cleanly(tmp_path):
    with started(tmp_path, "--no-browser", "--port", "0") as process:
        address = address_of(process)
        page = until(lambda: urlopen(address, timeout=SECONDS).read().decode())
        assert "<title>taylorank explorer</title>" in page
        asked = {"history": [{"item": word} for word in FIRST_WORDS], "n": 5, "rank": 4, "explain": True}
        request = Request(f"{address}v1/recommend", json.dumps(asked).encode())
        items = json.load(urlopen(request, timeout=SECONDS))["items"]
        assert len(items) == 5
        assert {reason["id"] for item in items for reason in item["reasons"]} <= set(FIRST_WORDS)
        assert any(tmp_path.iterdir())
        process.send_signal(signal.SIGTERM)
        process.wait(SECONDS)
    assert not any(tmp_path.iterdir())


def test_it_opens_the_page_with_words_chosen(tmp_path):
    script = tmp_path / "browser"
    script.write_text(f'#!/bin/sh\necho "$1" > {tmp_path}/opened.part && mv {tmp_path}/opened.part {tmp_path}/opened\n')
    script.chmod(0o755)
    with started(tmp_path, "--port", "0", BROWSER=f"{script} %s") as process:
        address = address_of(process)
        opened = until(lambda: (tmp_path / "opened").read_text().strip())
    assert opened == page_of(address)


def test_a_port_in_use_is_named_and_without_a_wish_another_is_taken(tmp_path, capsys):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert run("demo", "--no-browser", "--port", str(port)) == 2
        assert f"port {port} of 127.0.0.1 is in use; choose another with --port" in capsys.readouterr().err
    with socket.socket() as usual:
        try:
            usual.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            usual.bind(("127.0.0.1", 8000))
            usual.listen()
        except OSError:
            pass  # then somebody else has it, which is as good
        with started(tmp_path, "--no-browser") as process:
            assert not address_of(process).endswith(":8000/")


def test_the_first_words_are_in_the_data():
    assert set(FIRST_WORDS) <= set(datasets.thesaurus().item_ids)
