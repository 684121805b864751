"""Several comparisons on the same data, made apart, as one."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

from taylorank.errors import DataError
from taylorank.selection.record import Record, plain
from taylorank.selection.summary import summarise

SAME = ("data", "protocol", "settings", "budget")


def narrowed(record: Record, metrics: Sequence[str], *, like: Record) -> Record:
    """Return the record with these metrics alone, and with the description of the data that `like` has.

    Comparisons made apart may report different metrics and call their data differently; what must agree is the
    fingerprint, which says whether the data are the same.
    """
    missing = [metric for metric in metrics if metric not in record["settings"]["metrics"]]
    if missing:
        raise DataError(f"a comparison lacks {', '.join(missing)}", "leave it out, or compare again")
    if record["settings"]["primary"] not in metrics:
        raise DataError(f"{record['settings']['primary']}, which chose, is not among the metrics", "name it too")
    if record["settings"]["fingerprint"] != like["settings"]["fingerprint"]:
        raise DataError(
            f"a comparison is of other data ({record['data']['name']}, not {like['data']['name']})",
            "join only those of the same interactions",
        )
    order = [metric for metric in like["settings"]["metrics"] if metric in metrics]
    runs = [run if run["error"] else _narrowed_run(run, order) for run in record["runs"]]
    settings = {**record["settings"], "metrics": order}
    return {**record, "data": like["data"], "settings": settings, "runs": runs}


def _narrowed_run(run: dict[str, Any], metrics: Sequence[str]) -> dict[str, Any]:
    of_users = run["per_user"]
    values = {metric: of_users["values"][metric] for metric in metrics if metric in of_users["values"]}
    return {**run, "metrics": {m: run["metrics"][m] for m in metrics}, "per_user": {**of_users, "values": values}}


def join_records(records: Sequence[Record]) -> Record:
    """Return one record with the models and runs of all; data, protocol, metrics, seeds and budget must be the same.

    The machine and the command are those of the first.
    """
    if not records:
        raise DataError("there is no comparison to join", "give at least one")
    joined = copy.deepcopy(records[0])
    for record in records[1:]:
        differs = [part for part in SAME if record[part] != joined[part]]
        if differs:
            raise DataError(f"the comparisons differ in {', '.join(differs)}", "join only those made in the same way")
        twice = sorted(record["models"].keys() & joined["models"].keys())
        if twice:
            raise DataError(f"two of the comparisons have {twice[0]}", "leave one of them out")
        joined["models"] |= record["models"]
        joined["runs"] += record["runs"]
    joined["summary"] = plain(summarise(joined))
    return joined
