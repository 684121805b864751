"""Several comparisons on the same data, made apart, as one."""

from __future__ import annotations

import copy
from collections.abc import Sequence

from taylorank.errors import DataError
from taylorank.selection.record import Record, plain
from taylorank.selection.summary import summarise

SAME = ("data", "protocol", "settings", "budget")


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
