"""`taylorank diagnose`: is the quadratic a good approximation of softmax here, and what does the penalty leave?"""

from __future__ import annotations

import math
from typing import Annotated, Any

from cyclopts import Parameter

import taylorank
from taylorank.cli.options import A_FILE_OR_A_NAME, NO_OPTIONS, Cleaning, FileOptions, ModelFile, Quiet, Seed
from taylorank.cli.results import Json, check_writable, text_console, write_json
from taylorank.data.source import open_data
from taylorank.models import load
from taylorank.selection import Diagnosis
from taylorank.selection import diagnose as diagnose_model


def diagnose(
    model: ModelFile,
    data: Annotated[
        str | None,
        Parameter(
            help=f"Interactions to measure on, best validation data: {A_FILE_OR_A_NAME} [default: the training data]"
        ),
    ] = None,
    /,
    *,
    cleaning: Cleaning = None,
    seen: Annotated[
        list[str] | None,
        Parameter(help="More interactions of the same users that are no candidates; can be repeated.", negative=()),
    ] = None,
    users: Annotated[int, Parameter(help="Maximum number of users to look at.")] = 500,
    json: Json = None,
    seed: Seed = 0,
    quiet: Quiet = False,
    options: FileOptions = NO_OPTIONS,
) -> None:
    """Check a factor model: softmax approximation, systems, penalty.

    How much better does the model predict than one that does not know the user?
    Are the scores small enough for the quadratic loss to approximate softmax?
    Are the linear systems well conditioned? How many factors does the penalty
    leave?

    Example: taylorank diagnose model.tr valid.csv --json diagnosis.json
    """
    console = text_console(quiet, json)
    check_writable(json)
    fitted = load(model)
    reading = {"cleaning": cleaning, "progress": not quiet, **options.given()}
    given = None if data is None else open_data(data, **reading)
    masks = [
        fitted.seen,
        *(open_data(more, cleaning=cleaning, progress=not quiet, **options.given()) for more in seen or []),
    ]
    found = diagnose_model(fitted, given, seen=masks, users=users, random_state=seed, progress=not quiet)
    console.print(str(found), markup=False)
    if json is not None:
        asked = {"model": str(model), "data": data, "seen": seen or [], "users": users, "seed": seed}
        write_json(_document(found, asked), json, console)


def _document(found: Diagnosis, asked: dict[str, Any]) -> dict[str, Any]:
    numbers = {name: value if math.isfinite(value) else None for name, value in found.numbers.items()}
    return {"taylorank": taylorank.__version__, **asked, "words": list(found.words), "numbers": numbers}
