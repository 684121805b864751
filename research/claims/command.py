"""`python -m research.claims`: every claim of the papers, put to the test here and now."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from research.claims import CLAIMS, VERDICTS, claim_named, run_claims
from research.claims.run import write_claims
from research.claims.seeds import steady_claims, varying
from research.papers import PAPERS, is_cited
from taylorank.cli.options import command_line
from taylorank.data.shuffle import check_seed
from taylorank.output import check_place

VERDICT_WIDTH = max(map(len, VERDICTS))
STYLES = dict(zip(VERDICTS, ("green", "yellow", "red", "magenta", "dim"), strict=True))


def claims(
    ids: Annotated[list[str] | None, Parameter(help="Claims to test; all if none is named.")] = None,
    /,
    *,
    json: Annotated[Path | None, Parameter(help="File for verdicts and numbers.")] = None,
    heavy: Annotated[bool, Parameter(help="Test the claims on real data, and no others.", negative=())] = False,
    only_list: Annotated[bool, Parameter("--list", help="Show the ids; test nothing.", negative=())] = False,
    seed: Annotated[int, Parameter(help="Seed of all random numbers.")] = 0,
    seeds: Annotated[
        int | None, Parameter(help="Test instead whether verdicts are the same for so many seeds; exit code 1 if not.")
    ] = None,
    quiet: Annotated[bool, Parameter(help="Print nothing.", negative=())] = False,
) -> None:
    """Test the statements of the papers; each verdict is computed from numbers measured in this run.

    Claims on real data, one of which runs for an hour, are tested only if they are named or with --heavy; --seeds
    leaves out those too that train models or take times. docs/claims.md is the page made from the files.

    Example: python -m research.claims rg2-bounds-softmax nce-bias-never-vanishes --json claims.json
    """
    console = Console(quiet=quiet, highlight=False, soft_wrap=True)
    chosen = [claim_named(name).id for name in ids or [name for name, one in CLAIMS.items() if heavy and one.heavy]]
    check_seed(seed)
    if only_list:
        for name in chosen or CLAIMS:
            claim = CLAIMS[name]
            console.print(f"[bold]{name}[/bold]  {escape(claim.statement)}  [dim]({escape(claim.source)})[/dim]")
        _print_papers([CLAIMS[name].source for name in chosen or CLAIMS], console)
        return
    if seeds is not None:
        wanted = [CLAIMS[name] for name in chosen] or steady_claims()
        if varying(wanted, seeds=seeds, log_line=lambda line: console.print(line, markup=False)):
            sys.exit(1)
        return
    if json is not None:
        check_place(json)
    records = _run(chosen, seed, console)
    if json is not None:
        write_claims(json, records, command=command_line(), seed=seed)
    _report(records, console, with_reasons=bool(chosen))
    if json is not None:
        console.print(f"written: {json}")


def _run(chosen: list[str], seed: int, console: Console) -> list[dict[str, Any]]:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task("claims", total=len(chosen or CLAIMS))
        return run_claims(
            chosen,
            seed=seed,
            started=lambda claim: progress.update(task, description=claim.id),
            finished=lambda _: progress.advance(task),
        )


def _print_papers(sources: list[str], console: Console) -> None:
    """Print the whole reference of every paper that is cited."""
    console.print()
    for paper in PAPERS:
        if any(is_cited(paper, source) for source in sources):
            console.print(f"{paper}: {paper.full}", markup=False)


def _report(records: list[dict[str, Any]], console: Console, *, with_reasons: bool) -> None:
    width = max(len(record["id"]) for record in records)
    for record in records:
        verdict = f"[{STYLES[record['verdict']]}]{record['verdict']:<{VERDICT_WIDTH}}[/]"
        source = f"[dim]{escape(record['source'])}[/]"
        console.print(f"{verdict}  {record['id']:<{width}}  {record['seconds']:5.1f} s  {source}")
    if with_reasons:
        for record in records:
            console.print(f"\n{record['id']}: {record['statement']} ({record['source']})", markup=False)
            console.print(f"  {record['verdict']}: {record['reason']}", markup=False)
    _print_papers([record["source"] for record in records], console)
    counts = Counter(record["verdict"] for record in records)
    summary = ", ".join(f"{counts[verdict]} {verdict}" for verdict in VERDICTS if counts[verdict])
    console.print(f"\n{len(records)} claims in {sum(record['seconds'] for record in records):.0f} s: {summary}")
