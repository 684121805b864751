"""`taylorank serve`: saved models behind HTTP."""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter, validators

from taylorank.cli.options import Quiet, Threads
from taylorank.errors import MissingExtraError, ParameterError

LOCAL = ("127.0.0.1", "localhost", "::1")
LOCAL_NAMES = ("localhost", "127.0.0.1", "[::1]")
NEEDED = ("fastapi", "uvicorn", "pydantic", "prometheus_client", "threadpoolctl")


def serve(
    models: Annotated[
        list[str],
        Parameter(help="Model files, each as PATH or NAME=PATH; a path alone is named by its file.", negative=()),
    ],
    /,
    *,
    items: Annotated[
        Path | None,
        Parameter(help="Titles and columns of the items, .csv, .tsv or .parquet; read again when replaced."),
    ] = None,
    item_column: Annotated[str | None, Parameter(help="Column of the ids in --items; recognised by its name.")] = None,
    title_column: Annotated[str | None, Parameter(help="Column of the titles in --items.")] = None,
    hide: Annotated[
        Path | None,
        Parameter(help="Never recommend the items in this file, one id per line; read again when replaced."),
    ] = None,
    host: Annotated[
        str, Parameter(help="Address to listen at; 0.0.0.0 is reachable from other machines.")
    ] = "127.0.0.1",
    port: Annotated[
        int, Parameter(help="Port; 0 takes a free one.", validator=validators.Number(gte=0, lt=65536))
    ] = 8000,
    split: Annotated[
        str | None,
        Parameter(help="Share of users of each model, as NAME=90,OTHER=10. [default: the first model has all]"),
    ] = None,
    experiment: Annotated[str, Parameter(help="Name of the split; another name deals the users anew.")] = "",
    api_key: Annotated[
        str | None, Parameter(help="Key that requests have to carry; better given as TAYLORANK_API_KEY.")
    ] = None,
    allow_host: Annotated[
        list[str] | None,
        Parameter(
            help="Other name that requests may ask by; can be repeated. [default: any name unless --host is local]",
            negative=(),
        ),
    ] = None,
    cors_origin: Annotated[
        list[str] | None,
        Parameter(help="Web page origin that may ask, as https://shop.example; can be repeated.", negative=()),
    ] = None,
    workers: Annotated[
        int,
        Parameter(help="Processes, each with its own copy of the models.", validator=validators.Number(gte=1, lte=64)),
    ] = 1,
    max_body: Annotated[
        float, Parameter(help="Longest body of a request, in MiB.", validator=validators.Number(gt=0, lte=2**20))
    ] = 8.0,
    max_in_flight: Annotated[
        int,
        Parameter(
            help="Requests at a time in a process; more are told to wait.", validator=validators.Number(gt=0, lte=10**6)
        ),
    ] = 1_000,
    timeout: Annotated[
        float,
        Parameter(
            help="Seconds for headers and body to arrive, and for a request to wait.",
            validator=validators.Number(gt=0, lte=10**6),
        ),
    ] = 10.0,
    poll: Annotated[
        float,
        Parameter(
            help="Seconds between two looks at the files; 0: only on SIGHUP.",
            validator=validators.Number(gte=0, lte=10**6),
        ),
    ] = 1.0,
    num_threads: Threads = None,
    quiet: Quiet = False,
) -> None:
    """Answer requests for recommendations over HTTP.

    A model file that is replaced is taken in without a pause. SIGTERM ends
    it when the requests that have begun are answered.

    Example: taylorank serve model.tr --items items.csv

    Example: taylorank serve old=a.tr new=b.tr --split old=90,new=10
    """
    check_installed()
    from taylorank.serving.listening import Workers, address_of, bound_socket, log_to_stderr, run_one
    from taylorank.serving.settings import MIB, Settings, models_by_name, split_weights

    named = models_by_name(models)
    settings = Settings(
        models=named,
        weights=split_weights(split, list(named)),
        items=items,
        item_column=item_column,
        title_column=title_column,
        hide=hide,
        experiment=experiment,
        api_key=_key(api_key),
        allowed_hosts=(*LOCAL_NAMES, *(allow_host or ())) if allow_host or host in LOCAL else (),
        cors_origins=tuple(cors_origin or ()),
        max_body=int(max_body * MIB),
        max_in_flight=max_in_flight,
        timeout=timeout,
        poll=poll,
        num_threads=num_threads,
    )
    log_to_stderr()
    with bound_socket(host, port) as bound:

        def loaded() -> None:
            if not quiet:
                _say(settings.api_key is None and host not in LOCAL, address_of(bound), list(named))

        if workers == 1:
            run_one(settings, bound, loaded=loaded)
        else:
            sys.exit(Workers(settings, bound, workers, loaded=loaded).run())


def check_installed() -> None:
    """Refuse to go on without the packages of the extra."""
    missing = [name for name in NEEDED if importlib.util.find_spec(name) is None]
    if missing:
        raise MissingExtraError(f"{missing[0]} is not installed", "pip install 'taylorank[serve]'")


def _key(given: str | None) -> str | None:
    key = os.environ.get("TAYLORANK_API_KEY") if given is None else given
    if key is not None and not (key.strip() and key.isascii() and key.isprintable()):
        raise ParameterError("the API key is empty or not plain ASCII", "give letters and digits, or none")
    return None if key is None else key.strip()


def _say(is_open: bool, address: str, names: list[str]) -> None:
    print(f"{', '.join(names)} at {address} (stop with Ctrl-C)", flush=True)
    if is_open:
        print("taylorank: warning: anyone who reaches this address may ask; set TAYLORANK_API_KEY", file=sys.stderr)
