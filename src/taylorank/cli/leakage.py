"""`taylorank leakage`: what test data tell the training data."""

from __future__ import annotations

import sys
import warnings
from typing import Annotated, Literal

from cyclopts import Parameter

from taylorank.cli.options import A_FILE_OR_A_NAME, NO_OPTIONS, FileOptions, Quiet
from taylorank.cli.results import text_console
from taylorank.data import check_leakage
from taylorank.data.source import open_data
from taylorank.errors import LeakageWarning, ParameterError

FOUND = 3  # the exit code where there is a leak


def leakage(
    *parts: Annotated[str, Parameter(help=f"Training, validation if there is one, and test data: {A_FILE_OR_A_NAME}")],
    order: Annotated[
        Literal["any", "user", "global"] | None,
        Parameter(
            help="any: only pairs in two parts; user: also events before the user's last one of an earlier part; "
            "global: also events before the last one of an earlier part. [default: all where times are known]"
        ),
    ] = None,
    quiet: Quiet = False,
    options: FileOptions = NO_OPTIONS,
) -> None:
    """Look for leaks between training and test data.

    A leak is a (user, item) pair in two parts, or an event of a later part
    that happened before one of an earlier part: exit code 3 if there is one.

    Example: taylorank leakage parts/train.csv parts/test.csv --order any
    """
    if len(parts) < 2:
        raise ParameterError("leakage needs two parts or more", "give training and test data")
    console = text_console(quiet)
    read = [open_data(part, progress=not quiet, **options.given()) for part in parts]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LeakageWarning)  # they are printed below
        leaks = check_leakage(*read, order=order)
    for line in leaks or ["no leak was found"]:
        console.print(line, markup=False)
    if leaks:
        sys.exit(FOUND)
