"""`taylorank recommend`: lists from a saved model."""

from __future__ import annotations

import json as json_format
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from cyclopts import Parameter
from numpy.typing import NDArray
from rich import box
from rich.console import Console
from rich.table import Table

from taylorank.cli.lists import check_ending, write_lists
from taylorank.data import Ids
from taylorank.errors import DataError, ParameterError, UnknownIdError
from taylorank.kernels import threads
from taylorank.models import load
from taylorank.output import output_folder
from taylorank.ranking.cold import Cold


def recommend(
    model: Annotated[Path, Parameter(help="A file that `taylorank train` wrote.")],
    /,
    *,
    user: Annotated[list[str] | None, Parameter(help="A user; give it again for more.")] = None,
    all_: Annotated[bool, Parameter(name="--all", help="Recommend to every user, into --out.", negative=())] = False,
    n: Annotated[int, Parameter(name=("--number", "-n"), help="Length of each list.")] = 10,
    items: Annotated[Path | None, Parameter(help="Recommend only the items in this file, one id per line.")] = None,
    exclude: Annotated[Path | None, Parameter(help="Leave out the items in this file, one id per line.")] = None,
    cold: Annotated[
        Cold | None,
        Parameter(
            help="Users of whom nothing is known get the popular items, an empty list (nan), or an error. "
            "If not given: an error for unknown users, popular items for known ones without history."
        ),
    ] = None,
    out: Annotated[Path | None, Parameter(help="File for the lists, .parquet or .csv.")] = None,
    json: Annotated[bool, Parameter(help="Write JSON to standard output.", negative=())] = False,
    num_threads: Annotated[int | None, Parameter(help="Threads; the result is the same.")] = None,
    quiet: Annotated[bool, Parameter(help="Print nothing but results.", negative=())] = False,
) -> None:
    """Recommend items to users, leaving out what they met in training.

    Example: taylorank recommend model.tr --user 17 -n 10

    Example: taylorank recommend model.tr --all --exclude sold-out.txt --out recs.parquet
    """
    if bool(user) == all_:
        raise ParameterError("name users, or ask for all", "give --user ID, or --all with --out FILE")
    if all_ and out is None:
        raise ParameterError("--all needs a file", "add --out recs.parquet")
    if out is not None:
        check_ending(out)
    fitted = load(model)
    users = fitted.users.values if all_ else _asked(user or [], fitted.users, cold)
    choice: dict[str, Any] = {
        "items": None if items is None else _ids_in(items, fitted.items),
        "exclude": None if exclude is None else _ids_in(exclude, fitted.items),
        "cold": cold,
    }
    with threads(num_threads):
        if out is not None:
            console = Console(quiet=quiet, highlight=False, soft_wrap=True)
            with output_folder(out.parent):
                rows = write_lists(fitted, users, n, out=out, console=console, **choice)
            console.print(f"written: {out} ({len(users):,} users, {rows:,} rows)")
            return
        ids, scores = fitted.recommend(users, n, **choice)
    if json:
        print(json_format.dumps(_documents(users, ids, scores)))
    else:
        Console().print(_table(users, ids, scores))


def _documents(users: NDArray[Any], ids: NDArray[Any], scores: NDArray[np.float32]) -> list[dict[str, Any]]:
    """One object per user; the padding of short lists is left out, for JSON knows no NaN."""
    found = ~np.isnan(scores)
    return [
        {"user": user, "items": ids[row, found[row]].tolist(), "scores": scores[row, found[row]].tolist()}
        for row, user in enumerate(users.tolist())
    ]


def _table(users: NDArray[Any], ids: NDArray[Any], scores: NDArray[np.float32]) -> Table:
    table = Table("user", "rank", "item", "score", box=box.SIMPLE_HEAD, show_edge=False)
    for one in _documents(users, ids, scores):
        for rank, (item, value) in enumerate(zip(one["items"], one["scores"], strict=True), start=1):
            table.add_row(str(one["user"]), str(rank), str(item), f"{value:.4g}")
    return table


def _asked(texts: list[str], ids: Ids, cold: Cold | None) -> NDArray[Any]:
    """User ids as the model holds them; unknown ones are refused here, where the option can be named."""
    users = np.empty(len(texts), dtype=object)
    users[:] = [_typed(text, ids) for text in texts]
    unknown = users[ids.positions(users) < 0].tolist()
    if unknown and cold in (None, "error"):
        kind = "text" if ids.is_text else "integers"
        raise UnknownIdError(
            f"unknown user {', '.join(map(repr, unknown[:3]))} (ids here are {kind})",
            "--cold popularity gives unknown users the popular items",
        )
    return users


def _typed(text: str, ids: Ids) -> str | int:
    """An id as the model holds it: text stays text, integers are integers; what is not one is unknown as it is."""
    if ids.is_text:
        return text
    try:
        return int(text)
    except ValueError:
        return text


def _ids_in(path: Path, ids: Ids) -> list[str | int]:
    """The ids in a file, one per line; empty lines are skipped."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        raise DataError(f"no such file: {path}", "check the path") from None
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"cannot read {path} ({error})", "give a UTF-8 text file with one id per line") from None
    found = [_typed(line.strip(), ids) for line in lines if line.strip()]
    if not found:
        raise DataError(f"{path} holds no ids", "write one id per line")
    return found
