"""`taylorank split`: training, validation and test data as files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Parameter

from taylorank.cli.options import NO_OPTIONS, Cleaning, Core, Data, FileOptions, Quiet, Seed, comma_separated
from taylorank.cli.results import text_console
from taylorank.data import Interactions
from taylorank.data.source import open_data
from taylorank.data.split import check_ratios
from taylorank.errors import ParameterError
from taylorank.output import atomic_path, output_folder
from taylorank.selection import split_blocks

By = Literal["random", "last", "time", "users", "blocks"]
To = Literal["csv", "parquet", "npz"]


def split(
    data: Data,
    /,
    *,
    cleaning: Cleaning = None,
    core: Core = None,
    by: Annotated[
        By,
        Parameter(
            help="random: of each user; last: the last items of each user; time: the log at moments; "
            "users: whole users, whose history is in NAME-seen; blocks: groups of like items of each user."
        ),
    ] = "random",
    ratios: Annotated[
        str, Parameter(help="Shares of train, validation and test, or of train and test; not for last.")
    ] = "0.8,0.1,0.1",
    held: Annotated[int, Parameter(help="last: items of each user in validation and in test.")] = 1,
    to: Annotated[To, Parameter(help="Format of the written files; npz keeps ids and splits exactly.")] = "csv",
    out: Annotated[Path, Parameter(help="Write train, valid and test to this folder.")],
    seed: Seed = 0,
    quiet: Quiet = False,
    options: FileOptions = NO_OPTIONS,
) -> None:
    """Split data into training, validation and test files.

    Example: taylorank split ratings.csv --core 5 --out parts

    Example: taylorank split ml-1m --by time --ratios 0.9,0.1 --out parts
    """
    console = text_console(quiet)
    shares = _shares(ratios)
    with output_folder(out) as folder:
        interactions = open_data(data, cleaning=cleaning, progress=not quiet, **options.given())
        interactions = interactions if core is None else interactions.core(core)
        for name, part in _parts(interactions, by, shares, held, seed).items():
            path = folder / f"{name}.{to}"
            _write(part, path)
            console.print(f"{path}: {part.nnz:,} interactions", markup=False)


def _shares(text: str) -> tuple[float, ...]:
    try:
        return tuple(float(share) for share in comma_separated(text, "--ratios"))
    except ValueError:
        raise ParameterError(f"--ratios {text!r} are no shares", "write 0.8,0.1,0.1 or 0.9,0.1") from None


def _parts(data: Interactions, by: By, ratios: tuple[float, ...], held: int, seed: int) -> dict[str, Interactions]:
    if by == "last":
        return dict(
            zip(("train", "valid", "test"), data.split_last(valid=held, test=held, random_state=seed), strict=True)
        )
    if by == "users":
        train, valid, test = data.split_users(ratios, random_state=seed)
        named = {"valid-seen": valid.seen, "valid": valid.target, "test-seen": test.seen, "test": test.target}
        return {"train": train, **named}
    if by == "blocks":
        return _blocks(data, ratios, seed)
    found: Any = data.split_time(ratios) if by == "time" else data.split(ratios, random_state=seed)
    names = ("train", "test") if len(found) == 2 else ("train", "valid", "test")
    return dict(zip(names, found, strict=True))


def _blocks(data: Interactions, ratios: tuple[float, ...], seed: int) -> dict[str, Interactions]:
    """Take the test part first, then validation from what is left."""
    _, *held = check_ratios(ratios)
    parts, left = {}, 1.0
    for name, share in zip(("test", "valid"), reversed(held), strict=False):
        data, parts[name] = split_blocks(data, share / left, random_state=seed)
        left -= share
    return {"train": data, **dict(reversed(parts.items()))}


def _write(part: Interactions, path: Path) -> None:
    if path.suffix == ".npz":
        part.save_npz(path)
        return
    frame = part.to_frame()
    with atomic_path(path) as temporary:
        (frame.write_csv if path.suffix == ".csv" else frame.write_parquet)(temporary)
