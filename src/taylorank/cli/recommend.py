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

from taylorank.data import Ids
from taylorank.errors import ParameterError
from taylorank.models import FactorModel, load
from taylorank.output import atomic_path, output_folder


def recommend(
    model: Annotated[Path, Parameter(help="A file that `taylorank train` wrote.")],
    /,
    *,
    user: Annotated[list[str] | None, Parameter(help="A user; give it again for more.")] = None,
    all_: Annotated[bool, Parameter(name="--all", help="Recommend to every user, into --out.", negative=())] = False,
    n: Annotated[int, Parameter(name=("--number", "-n"), help="Length of each list.")] = 10,
    out: Annotated[Path | None, Parameter(help="Parquet file for the lists.")] = None,
    json: Annotated[bool, Parameter(help="Write JSON to standard output.", negative=())] = False,
    quiet: Annotated[bool, Parameter(help="Print nothing but results.", negative=())] = False,
) -> None:
    """Recommend items to users, leaving out what they met in training.

    Example: taylorank recommend model.tr --user 17 -n 10

    Example: taylorank recommend model.tr --all --out recs.parquet
    """
    if bool(user) == all_:
        raise ParameterError("name users, or ask for all", "give --user ID, or --all with --out FILE")
    if all_ and out is None:
        raise ParameterError("--all needs a file", "add --out recs.parquet")
    fitted = load(model)
    users = fitted.users.values if all_ else np.array([_typed(u, fitted.users) for u in user or []], dtype=object)
    if out is not None:
        _write(fitted, users, n, out)
        Console(quiet=quiet, highlight=False, soft_wrap=True).print(f"written: {out} ({len(users):,} users)")
        return
    ids, scores = fitted.recommend(users, n)
    if json:
        lists = [
            {"user": u, "items": i, "scores": s}
            for u, i, s in zip(users.tolist(), ids.tolist(), scores.tolist(), strict=True)
        ]
        print(json_format.dumps(lists))
        return
    table = Table("user", "rank", "item", "score", box=box.SIMPLE_HEAD, show_edge=False)
    for one, items, values in zip(users.tolist(), ids.tolist(), scores.tolist(), strict=True):
        for rank, (item, value) in enumerate(zip(items, values, strict=True), start=1):
            if value == value:  # a short list is padded with NaN
                table.add_row(str(one), str(rank), str(item), f"{value:.4g}")
    Console().print(table)


def _typed(text: str, ids: Ids) -> str | int:
    """A user id as the model holds it: text stays text, integers are integers."""
    if ids.is_text:
        return text
    try:
        return int(text)
    except ValueError:
        raise ParameterError(f"user {text!r} is not an integer, and the model's ids are", "check the id") from None


def _write(model: FactorModel, users: NDArray[Any], n: int, out: Path) -> None:
    """Write (user, rank, item, score) rows."""
    import polars as pl

    with output_folder(out.parent):
        ids, scores = model.recommend(users, n)
        kept = ~np.isnan(scores)
        columns = {
            "user": np.repeat(users, kept.sum(axis=1)),
            "rank": np.broadcast_to(np.arange(1, n + 1, dtype=np.int32), ids.shape)[kept],
            "item": ids[kept],
            "score": scores[kept],
        }
        kinds = {
            side: pl.String if own.is_text else pl.Int64 for side, own in (("user", model.users), ("item", model.items))
        }
        with atomic_path(out) as temporary:
            pl.DataFrame(columns, schema_overrides=kinds).write_parquet(temporary)
