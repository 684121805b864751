"""The report at the end of `taylorank run`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from taylorank.cli.options import command_line
from taylorank.data import Interactions
from taylorank.errors import MissingExtraError
from taylorank.ranking import Oracle
from taylorank.report import require_extra, write_report
from taylorank.selection import compare_fitted

METRICS = ("ndcg@10", "recall@10", "mrr@10", "ndcg@20", "recall@20")


def write_run_report(
    data: Interactions, results: list[dict[str, Any]], path: Path, *, random_state: int, notes: Sequence[str]
) -> str:
    """Write the report of fitted models (`model`, `fitted`, `fit_seconds` of each result); return a line about it.

    `notes` are shown below the result.
    Without the extra [report] none is written, and the line explains how to install it.
    """
    try:
        require_extra()
    except MissingExtraError as missing:
        return f"no report: {missing}"
    models = {result["model"]: result["fitted"] for result in results}
    found = compare_fitted(
        data,
        models,
        metrics=METRICS,
        seconds={result["model"]: result["fit_seconds"] for result in results if result.get("fit_seconds") is not None},
        params={result["model"]: result.get("parameters") or {} for result in results},
        bounds=[name for name, model in models.items() if isinstance(model, Oracle)],
        random_state=random_state,
        name="planted data",
        command=command_line(),
        notes=notes,
    )
    write_report(found.record, path)
    return f"written: {path}"
