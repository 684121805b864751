"""`taylorank similar`: the neighbours of items or users in a saved model."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
from cyclopts import Parameter

from taylorank.cli.options import ModelFile, Quiet
from taylorank.cli.results import STANDARD_OUTPUT, Json, check_writable, text_console, write_json
from taylorank.cli.tables import print_table
from taylorank.cli.typed_ids import known_ids
from taylorank.errors import ParameterError
from taylorank.models import load


def similar(
    model: ModelFile,
    /,
    *,
    item: Annotated[list[str] | None, Parameter(help="Id of an item; can be repeated.", negative=())] = None,
    user: Annotated[list[str] | None, Parameter(help="Id of a user; can be repeated.", negative=())] = None,
    n: Annotated[int, Parameter(name=("--number", "-n"), help="Number of neighbours.")] = 10,
    json: Json = None,
    quiet: Quiet = False,
) -> None:
    """Show the items or users nearest to some.

    Models with vectors compare by the cosine; EASE and item neighbours by
    their weights.

    Example: taylorank similar model.tr --item 2571 -n 5
    """
    if bool(item) == bool(user):
        raise ParameterError("give --item or --user", "write --item ID, or --user ID")
    check_writable(json)
    fitted: Any = load(model)
    what, ids = ("item", fitted.items) if item else ("user", fitted.users)
    asked = known_ids(item or user or [], ids, what)
    found, scores = (fitted.similar_items if item else fitted.similar_users)(asked, n)
    there = ~np.isnan(scores)
    if json != STANDARD_OUTPUT:
        rows = [
            [str(one), str(near), f"{value:.4f}"]
            for row, one in enumerate(asked)
            for near, value in zip(found[row, there[row]], scores[row, there[row]], strict=True)
        ]
        print_table([what, "similar", "similarity"], rows, text_console(False))
    if json is not None:
        documents = [
            {what: one, "similar": found[row, there[row]].tolist(), "scores": scores[row, there[row]].tolist()}
            for row, one in enumerate(asked)
        ]
        write_json(documents, json, text_console(quiet, json))
