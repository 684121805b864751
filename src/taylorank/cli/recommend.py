"""`taylorank recommend`: lists from a saved model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import numpy as np
from cyclopts import Parameter
from numpy.typing import NDArray

from taylorank.cli.lists import check_ending, write_lists
from taylorank.cli.options import Device, ModelFile, Quiet, Threads
from taylorank.cli.results import STANDARD_OUTPUT, Json, check_writable, text_console, write_json
from taylorank.cli.tables import print_table
from taylorank.cli.typed_ids import typed
from taylorank.data import Ids
from taylorank.errors import DataError, ParameterError, UnknownIdError
from taylorank.kernels import threads
from taylorank.models import load
from taylorank.ranking.cold import Cold
from taylorank.ranking.list_table import list_columns
from taylorank.torch_extra import on_device


def recommend(
    model: ModelFile,
    /,
    *,
    for_user: Annotated[
        list[str] | None, Parameter(alias="--user", help="Id of a user; can be repeated.", negative=())
    ] = None,
    all_: Annotated[
        bool, Parameter(name="--all", help="Recommend to every user; needs --out.", negative=(), show_default=False)
    ] = False,
    n: Annotated[int, Parameter(name=("--number", "-n"), help="Number of items in each list.")] = 10,
    items: Annotated[Path | None, Parameter(help="Recommend only the items in this file, one id per line.")] = None,
    exclude: Annotated[Path | None, Parameter(help="Do not recommend the items in this file, one id per line.")] = None,
    cold: Annotated[
        Cold | None,
        Parameter(
            help="What users without known history get: the most popular items, an empty list (nan), or an error. "
            "[default: error for unknown users, popularity for the others]"
        ),
    ] = None,
    num_threads: Threads = None,
    device: Device = None,
    out: Annotated[Path | None, Parameter(help="Write the lists to this file, .parquet or .csv.")] = None,
    json: Json = None,
    quiet: Quiet = False,
) -> None:
    """Recommend items to users with a saved model.

    Items that a user interacted with in training are not recommended.

    Example: taylorank recommend model.tr --for-user 17 -n 10

    Example: taylorank recommend model.tr --all --out recs.parquet
    """
    _check_request(for_user or [], all_, out, json)
    console = text_console(quiet, json)
    check_writable(out, json)
    with threads(num_threads):
        fitted = on_device(load(model), device)
        users = fitted.users.values if all_ else _user_ids(for_user or [], fitted.users, cold)
        choice: dict[str, Any] = {
            "items": None if items is None else _ids_in(items, fitted.items),
            "exclude": None if exclude is None else _ids_in(exclude, fitted.items),
            "cold": cold,
        }
        if out is not None:
            rows = write_lists(fitted, users, n, out=out, console=console, **choice)
            console.print(f"written: {out} ({len(users):,} users, {rows:,} rows)")
            return
        ids, scores = fitted.recommend(users, n, **choice)
        if json != STANDARD_OUTPUT:
            print_table(["user", "rank", "item", "score"], _rows(users, ids, scores), text_console(False))
        if json is not None:
            write_json(_documents(users, ids, scores), json, console)


def _check_request(for_user: list[str], all_: bool, out: Path | None, json: Path | None) -> None:
    if bool(for_user) == all_:
        raise ParameterError("give --for-user or --all", "write --for-user ID, or --all with --out FILE")
    if all_ and out is None:
        raise ParameterError("--all needs a file", "add --out recs.parquet")
    if out is not None and json is not None:
        raise ParameterError("--out and --json are two files for the same lists", "give one of them")
    if out is not None:
        check_ending(out)


def _documents(users: NDArray[Any], ids: NDArray[Any], scores: NDArray[np.float32]) -> list[dict[str, Any]]:
    """Return one object per user, without the padding of short lists: JSON has no NaN."""
    found = ~np.isnan(scores)
    return [
        {"user": user, "items": ids[row, found[row]].tolist(), "scores": scores[row, found[row]].tolist()}
        for row, user in enumerate(users.tolist())
    ]


def _rows(users: NDArray[Any], ids: NDArray[Any], scores: NDArray[np.float32]) -> list[list[str]]:
    columns = list_columns(users, (ids, scores)).values()
    return [[str(user), str(rank), str(item), f"{score:.4g}"] for user, rank, item, score in zip(*columns, strict=True)]


def _user_ids(texts: list[str], ids: Ids, cold: Cold | None) -> NDArray[Any]:
    """Return user ids as the model has them; unknown ones are refused here, where the option can be named."""
    users = np.empty(len(texts), dtype=object)
    users[:] = [typed(text, ids) for text in texts]
    unknown = users[ids.positions(users) < 0].tolist()
    if unknown and cold in (None, "error"):
        kind = "text" if ids.is_text else "integers"
        raise UnknownIdError(
            f"unknown user {', '.join(map(repr, unknown[:3]))} (ids here are {kind})",
            "--cold popularity gives unknown users the popular items",
        )
    return users


def _ids_in(path: Path, ids: Ids) -> list[str | int]:
    """Return the ids in a file, one per line; empty lines are skipped."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        raise DataError(f"no such file: {path}", "check the path") from None
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"cannot read {path} ({error})", "give a UTF-8 text file with one id per line") from None
    found = [typed(line.strip(), ids) for line in lines if line.strip()]
    if not found:
        raise DataError(f"{path} holds no ids", "write one id per line")
    return found
