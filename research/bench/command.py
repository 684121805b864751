"""`python -m research.bench NAME`: one benchmark or study, its options, and where its record goes."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

from cyclopts import App, Parameter
from rich.console import Console

from research.bench import BENCHMARKS, run_benchmark
from research.output import provenance, write_json
from taylorank.cli.options import command_line
from taylorank.output import check_place

PROGRAM = "python -m research.bench"
# Options are the parameters of `run`; these are given here: a file that a study writes by itself, so that it can
# continue from it, the command for its record, and the function that shows its progress.
GIVEN_HERE = ("file", "command", "log_line")

app = App(
    name=PROGRAM,
    help="Run a benchmark, of us and our peers in turns on the same data, or a study.",
    help_format="plaintext",
    version_flags=(),
    suppress_keyboard_interrupt=False,
    default_parameter=Parameter(negative=(), parse=re.compile(rf"^(?!(?:{'|'.join(GIVEN_HERE)})$)")),
)
for _name, _benchmark in BENCHMARKS.items():
    _small = " (small data: does it run at all?)" if _benchmark.example == "--quick" else ""
    app.command(
        f"research.bench.{_benchmark.module}:run",
        name=_name,
        help=f"{_benchmark.summary}\n\nExample: {PROGRAM} {_name} {_benchmark.example}{_small}",
    )


@app.meta.default
def bench(
    *tokens: Annotated[str, Parameter(show=False, allow_leading_hyphen=True)],
    json: Annotated[Path | None, Parameter(help="File for the record.")] = None,
    quiet: Annotated[bool, Parameter(help="Print nothing.", negative=())] = False,
) -> None:
    """Run what the tokens name; show its results and write its record."""
    console = Console(quiet=quiet, highlight=False, soft_wrap=True)
    if not tokens:
        app.help_print([])
        return
    _, given, left = app.parse_args(tokens, exit_on_error=False, print_error=False)
    own = {"file": json, "command": command_line(), "log_line": lambda line: console.print(line, markup=False)}
    if json is not None:
        check_place(json)
    record, lines = run_benchmark(tokens[0], *given.args, **given.kwargs, **{name: own[name] for name in left})
    if json is not None and "file" not in left:
        write_json(json, {**provenance(command_line()), **record})
    console.print("\n".join([tokens[0], *(f"  {line}" for line in lines)]), markup=False)
    if json is not None:
        console.print(f"written: {json}")
