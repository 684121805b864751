"""`taylorank explain`: why an item is recommended to a user."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from taylorank.cli.options import ModelFile, Quiet
from taylorank.cli.results import STANDARD_OUTPUT, Json, check_writable, text_console, write_json
from taylorank.cli.tables import print_table
from taylorank.cli.typed_ids import known_ids
from taylorank.models import load


def explain(
    model: ModelFile,
    /,
    *,
    user: Annotated[str, Parameter(help="Id of the user.")],
    item: Annotated[str, Parameter(help="Id of the item.")],
    n: Annotated[int, Parameter(name=("--number", "-n"), help="Number of reasons.")] = 10,
    json: Json = None,
    quiet: Quiet = False,
) -> None:
    """Show which items of a user's history speak for an item.

    The score is the base plus the contributions of the whole history; the
    largest are shown.

    Example: taylorank explain model.tr --user 17 --item 2571
    """
    check_writable(json)
    fitted = load(model)
    (who,), (what,) = known_ids([user], fitted.users, "user"), known_ids([item], fitted.items, "item")
    found = fitted.explain(who, what, n)
    pairs = list(zip(found.items.tolist(), found.contributions.tolist(), strict=True))
    if json != STANDARD_OUTPUT:
        console = text_console(False)
        console.print(f"score {found.score:.4g} of {what} for {who}, without history {found.base:.4g}", markup=False)
        print_table(["because of", "contribution"], [[str(i), f"{value:.4g}"] for i, value in pairs], console)
    if json is not None:
        document = {"user": who, "item": what, "score": found.score, "base": found.base}
        reasons = [{"item": i, "contribution": value} for i, value in pairs]
        write_json(document | {"contributions": reasons}, json, text_console(quiet, json))
