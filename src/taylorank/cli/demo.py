"""`taylorank demo`: a model of words, fitted in seconds, to play with in the browser."""

from __future__ import annotations

import json
import socket
import tempfile
import time
import webbrowser
from pathlib import Path
from threading import Thread
from typing import Annotated
from urllib.error import URLError
from urllib.parse import urlencode
from urllib.request import urlopen

from cyclopts import Parameter, validators

from taylorank.cli.options import Quiet, Seed
from taylorank.cli.results import text_console
from taylorank.cli.serve import LOCAL_NAMES, check_installed
from taylorank.data import datasets
from taylorank.errors import ParameterError
from taylorank.models import RG2
from taylorank.progress import narrated

# Rank and threshold are the best of a few by NDCG@10 on validation data (80/10/10). The discount costs 4 % of it, and
# lets less common words come up.
REGULARIZATION, DISCOUNT = 0.1, 0.2
FIRST_WORDS = ("king", "crown")
PATIENCE = 60.0  # seconds for the server to answer before the browser is opened


def demo(
    *,
    factors: Annotated[int, Parameter(help="Rank of the model.", validator=validators.Number(gte=2, lte=4096))] = 512,
    port: Annotated[
        int | None,
        Parameter(
            help="Port. [default: 8000, or a free one if that is in use]", validator=validators.Number(gte=0, lt=65536)
        ),
    ] = None,
    browser: Annotated[bool, Parameter(help="Open the page in the browser.")] = True,
    seed: Seed = 0,
    quiet: Quiet = False,
) -> None:
    """Explore a model of words in the browser.

    Choose words, get words. The data come with taylorank: root words of the
    Moby Thesaurus and the words listed under them. The page is served on this
    machine alone.

    Example: taylorank demo --no-browser --port 8080
    """
    check_installed()
    from taylorank.serving.listening import address_of, log_to_stderr, run_one
    from taylorank.serving.settings import Settings

    console = text_console(quiet)
    with _socket(port) as bound, tempfile.TemporaryDirectory(prefix="taylorank-demo-") as folder:
        file = Path(folder) / "thesaurus.tr"
        with narrated("fitting a model of words", not quiet):
            start = time.perf_counter()
            data = datasets.thesaurus()
            model = RG2(factors, regularization=REGULARIZATION, popularity_discount=DISCOUNT, random_state=seed)
            model.fit(data).save(file, path=True)
        took = f"fitted RG2 of rank {factors} to {data.nnz:,} pairs of words in {time.perf_counter() - start:.1f} s"
        console.print(took, markup=False)
        address = address_of(bound)
        log_to_stderr()

        def loaded() -> None:
            if not quiet:
                print(f"explore it at {address} (stop with Ctrl-C)", flush=True)
            if browser:
                Thread(target=_open_when_ready, args=(address,), daemon=True).start()

        settings = Settings({"thesaurus": file}, {"thesaurus": 1.0}, allowed_hosts=LOCAL_NAMES)
        run_one(settings, bound, loaded=loaded)


def _socket(port: int | None) -> socket.socket:
    """Return a socket at that port; without one at 8000, or where it is in use at a free one."""
    from taylorank.serving.listening import bound_socket

    if port is not None:
        return bound_socket("127.0.0.1", port)
    try:
        return bound_socket("127.0.0.1", 8000)
    except ParameterError:
        return bound_socket("127.0.0.1", 0)


def page_of(address: str) -> str:
    """Return the address of the page with some words chosen.

    >>> page_of("http://127.0.0.1:8000/")
    'http://127.0.0.1:8000/#i=%22king%22&i=%22crown%22'
    """
    return f"{address}#{urlencode([('i', json.dumps(word)) for word in FIRST_WORDS])}"


def _open_when_ready(address: str) -> None:
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        try:
            urlopen(f"{address}health/ready", timeout=5).close()
        except (URLError, OSError):
            time.sleep(0.1)
        else:
            webbrowser.open(page_of(address))
            return
