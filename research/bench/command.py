"""`taylorank bench`: named benchmarks against peers."""

from __future__ import annotations

import json as json_format
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter
from rich.console import Console

from research.bench import BENCHMARKS, run_benchmark
from taylorank.errors import ParameterError
from taylorank.output import atomic_path, output_folder


def bench(
    names: Annotated[list[str] | None, Parameter(help=f"Benchmarks to run: {', '.join(BENCHMARKS)}.")] = None,
    /,
    *,
    json: Annotated[Path | None, Parameter(help="File for the results.")] = None,
    quick: Annotated[bool, Parameter(help="Small data: does it run at all?", negative=())] = False,
    quiet: Annotated[bool, Parameter(help="Print nothing.", negative=())] = False,
) -> None:
    """Run benchmarks; each times us and our peers in the same run, on the same data.

    Without names it lists what there is.

    Example: taylorank bench gather-sum --json gather_sum.json
    """
    console = Console(quiet=quiet, highlight=False, soft_wrap=True)
    chosen = names or []
    unknown = [name for name in chosen if name not in BENCHMARKS]
    if unknown:
        raise ParameterError(f"no benchmark {unknown[0]!r}", f"choose from {', '.join(BENCHMARKS)}")
    if not chosen:
        console.print(f"benchmarks: {', '.join(BENCHMARKS)}")
        return
    if json is None:
        _run_all(chosen, quick, console)
        return
    with output_folder(json.parent):
        records = _run_all(chosen, quick, console)
        content = next(iter(records.values())) if len(records) == 1 else records
        with atomic_path(json) as temporary:
            temporary.write_text(json_format.dumps(content, indent=1) + "\n")
    console.print(f"written: {json}")


def _run_all(names: list[str], quick: bool, console: Console) -> dict[str, Any]:
    records = {}
    for name in names:
        with console.status(f"benchmark {name}"):
            records[name], lines = run_benchmark(name, quick=quick)
        console.print("\n".join([name, *(f"  {line}" for line in lines)]))
    return records
