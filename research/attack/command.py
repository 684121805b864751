"""`python -m research.attack`: odd input for some minutes, and the figures."""

from __future__ import annotations

from json import loads as json_of
from pathlib import Path
from typing import Annotated, Any

from cyclopts import App, Parameter, validators
from rich.console import Console

from research.attack import ATTACKS
from research.attack.trial import OUTCOMES, Tally, run_attack
from research.output import provenance, write_json
from taylorank.checks import check_name
from taylorank.cli.options import command_line
from taylorank.errors import TaylorankError
from taylorank.machine import describe_machine
from taylorank.output import check_place

SHARES = {"kills": 4}  # of the time, where it is not 1: each kill needs some tenths of a second
PROGRAM = "python -m research.attack"
app = App(name=PROGRAM, help_format="plaintext", version_flags=(), suppress_keyboard_interrupt=False)


@app.default
def attack(
    names: Annotated[list[str] | None, Parameter(help=f"Which: {', '.join(ATTACKS)}; all if none is named.")] = None,
    /,
    *,
    minutes: Annotated[float, Parameter(help="Time for all of them.", validator=validators.Number(gt=0))] = 2.0,
    until: Annotated[
        int | None, Parameter(help="End sooner: when each thing that an attack counts was done so often.")
    ] = None,
    seed: Annotated[int, Parameter(help="Seed of the first case; those of the others follow.")] = 0,
    json: Annotated[Path | None, Parameter(help="File for the figures; those of other attacks in it stay.")] = None,
    quiet: Annotated[bool, Parameter(help="Print nothing.", negative=())] = False,
) -> None:
    """Attack the library with odd input; exit code 2 if anything is found.

    Example: python -m research.attack parsers --minutes 10 --json attack.json
    """
    chosen = names or list(ATTACKS)
    for name in chosen:
        check_name(name, ATTACKS, "attack")
    console = Console(quiet=quiet, highlight=False, soft_wrap=True)
    parts = sum(SHARES.get(name, 1) for name in chosen)
    faults, made = 0, provenance(command_line())  # of what runs: the record itself changes the tree
    if json is not None:
        check_place(json)
    for name in chosen:

        def keep(tally: Tally, name: str = name) -> None:
            if json is not None:
                write_json(json, _with(json, name, made, tally.record()))

        seconds = 60 * minutes * SHARES.get(name, 1) / parts
        tally = run_attack(name, seconds=seconds, first_seed=seed, until=until, so_far=keep)
        keep(tally)
        faults += len(tally.faults)
        _show(name, tally.record(), console)
    if faults:
        raise TaylorankError(f"{faults} faults were found", "the seeds make them again: --seed N --minutes 0.1")


def _with(file: Path, name: str, made: dict[str, str], found: dict[str, Any]) -> dict[str, Any]:
    """Return the figures in the file with those of one attack in their place."""
    known = json_of(file.read_text(encoding="utf-8")) if file.exists() and file.stat().st_size else {"attacks": {}}
    attacks = {**known["attacks"], name: {**made, "machine": describe_machine(), "says": ATTACKS[name], **found}}
    return {"attacks": {one: attacks[one] for one in ATTACKS if one in attacks}}


def _show(name: str, record: dict[str, Any], console: Console) -> None:
    counts = ", ".join(f"{record[kind]:,} {kind}" for kind in OUTCOMES)
    console.print(f"{name}: {record['tried']:,} cases in {record['seconds']:.0f} s: {counts}", markup=False)
    for part, count in record.get("parts", {}).items():
        console.print(f"  {part}: {count:,}", markup=False)
    for measure, values in record.get("measures", {}).items():
        console.print(f"  {measure}: {', '.join(f'{k} {v:g}' for k, v in values.items())}", markup=False)
    for fault in record["faults"][:20]:
        console.print(f"  seed {fault['seed']}: {fault['fault']}, {fault['what']}", markup=False)
