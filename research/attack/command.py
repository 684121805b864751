"""`python -m research.attack`: odd input for some minutes, and the figures."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import Annotated, Any

from cyclopts import App, Parameter, validators
from rich.console import Console

from research.attack import ATTACKS
from research.attack.trial import FAULTS, run_attack
from research.output import write_json
from taylorank.checks import check_name
from taylorank.cli.options import command_line, whole
from taylorank.errors import TaylorankError
from taylorank.machine import describe_machine
from taylorank.output import output_file

PROGRAM = "python -m research.attack"
app = App(name=PROGRAM, help_format="plaintext", version_flags=(), suppress_keyboard_interrupt=False)


@app.default
def attack(
    names: Annotated[list[str] | None, Parameter(help=f"Which: {', '.join(ATTACKS)}; all if none is named.")] = None,
    /,
    *,
    minutes: Annotated[float, Parameter(help="Time for all of them.", validator=validators.Number(gt=0))] = 2.0,
    seed: Annotated[int, Parameter(help="Seed of the first case; those of the others follow.", converter=whole)] = 0,
    json: Annotated[Path | None, Parameter(help="File for the figures.")] = None,
    quiet: Annotated[bool, Parameter(help="Print nothing.", negative=())] = False,
) -> None:
    """Attack the library with odd input; exit code 2 if anything is found.

    Example: python -m research.attack parsers --minutes 10 --json attack.json
    """
    chosen = names or list(ATTACKS)
    for name in chosen:
        check_name(name, ATTACKS, "attack")
    console = Console(quiet=quiet, highlight=False, soft_wrap=True)
    found: dict[str, Any] = {}
    with nullcontext() if json is None else output_file(json):
        for name in chosen:
            found[name] = run_attack(name, seconds=60 * minutes / len(chosen), first_seed=seed).record()
            console.print(_line(name, found[name]), markup=False)
            for fault in found[name]["faults"][:20]:
                console.print(f"  seed {fault['seed']}: {fault['fault']}, {fault['what']}", markup=False)
        if json is not None:
            write_json(json, {"command": command_line(), "machine": describe_machine(), "attacks": found})
    faults = sum(len(one["faults"]) for one in found.values())
    if faults:
        raise TaylorankError(f"{faults} faults were found", "the seeds make them again: --seed N --minutes 0.1")


def _line(name: str, record: dict[str, Any]) -> str:
    counts = ", ".join(f"{record[kind]:,} {kind}" for kind in ("result", "refused", *FAULTS))
    return f"{name}: {record['tried']:,} cases in {record['seconds']:.0f} s: {counts}"
