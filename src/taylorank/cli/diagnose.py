"""`taylorank diagnose`: is the quadratic a fair stand-in for softmax here, and what did the penalty leave?"""

from __future__ import annotations

import json as json_format
import math
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter
from rich.console import Console

import taylorank
from taylorank.cli.options import NO_OPTIONS, FileOptions
from taylorank.data.source import open_data
from taylorank.models import load
from taylorank.output import atomic_path, output_folder
from taylorank.selection import diagnose as diagnose_model


def diagnose(
    model: Annotated[Path, Parameter(help="A file that `taylorank train` wrote.")],
    data: Annotated[
        str | None, Parameter(help="Positives to measure on, best validation data [what the model was trained on].")
    ] = None,
    /,
    *,
    users: Annotated[int, Parameter(help="At most so many users are looked at.")] = 500,
    json: Annotated[Path | None, Parameter(help="File for the words and the numbers.")] = None,
    protocol: Annotated[str | None, Parameter(help="For data sets: raw, paper, …")] = None,
    options: FileOptions = NO_OPTIONS,
    seed: Annotated[int, Parameter(help="Seed of the draw of users.")] = 0,
    quiet: Annotated[bool, Parameter(help="Print nothing.", negative=())] = False,
) -> None:
    """Say how a factor model's scores stand to softmax, how sound its systems are, and what its penalty leaves.

    Example: taylorank diagnose model.tr valid.csv --json diagnosis.json
    """
    console = Console(quiet=quiet, highlight=False, soft_wrap=True)
    fitted = load(model)
    given = None if data is None else open_data(data, protocol=protocol, **options.given())
    found = diagnose_model(fitted, given, users=users, seed=seed)
    console.print(str(found), markup=False)
    if json is None:
        return
    document = {
        "taylorank": taylorank.__version__,
        "model": str(model),
        "data": data,
        "users": users,
        "seed": seed,
        "words": list(found.words),
        "numbers": {name: value if math.isfinite(value) else None for name, value in found.numbers.items()},
    }
    with output_folder(json.parent), atomic_path(json) as temporary:
        temporary.write_text(json_format.dumps(document, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    console.print(f"written: {json}")
