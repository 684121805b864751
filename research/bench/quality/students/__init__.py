"""Students of high-rank teachers: ranges fixed on other sets, then the public splits, other sets, and dense data.

Stages, each for some sets and seeds; the file keeps every part as soon as it is there, and the same command goes on
from it. Everything is chosen on validation data; `ranges` and `dense` never look at a test part.

- `ranges`: a search in wide ranges on eight sets that are not Gowalla or Yelp2018. `--fix` makes the ranges file of it.
- `public`: Gowalla and Yelp2018 within those ranges, at K = 64 and 128 (seed 0: also 32 and 16); one look at test.
- `bytes`: with the choice of `public`, students of K = 8 and 256, and RG² cut to each K from 8 to 256.
- `others`: teacher and student of `ranges`, EASE and iALS on six other sets; one look at test of each split.
- `dense`: what helps where a student of 64 numbers trails its teacher.
- `times`: seconds of the chosen settings, alone on the machine.

    python -m research.bench students --prepare --folder .carry/students
    python -m research.bench students --stages ranges --sets ml-1m --seconds 150 --json out/ranges-ml-1m.json
    python -m research.bench students --join out --json research/records/students/students.json
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from research.bench.quality.students.dense import dense
from research.bench.quality.students.fixed import RANGES_FILE, fixed_ranges, read_ranges
from research.bench.quality.students.per_byte import per_byte
from research.bench.quality.students.public import public, times
from research.bench.quality.students.search import settings_of
from research.bench.quality.students.sets import KEPT, PUBLIC
from research.bench.quality.students.sets import prepare as write_sets
from research.bench.quality.students.stages import SMALL, WIDE, Job, Row, others, ranges
from research.bench.quality.students.words import describe
from research.options import numbers
from research.output import provenance, write_json
from taylorank.errors import ParameterError, in_one_line
from taylorank.machine import describe_machine

__all__ = ["describe", "run"]

STAGES: dict[str, Callable[[Job, Callable[[Row], object]], Row]] = {
    "ranges": ranges,
    "public": public,
    "bytes": per_byte,
    "others": others,
    "dense": dense,
    "times": times,
}
SETS = {
    "ranges": tuple(name for name in KEPT if name != "generated"),
    "public": PUBLIC,
    "bytes": PUBLIC,
    "times": PUBLIC,
    "others": ("ml-1m", "moby-thesaurus", "npm-deps", "online-retail", "amazon-beauty", "amazon-sports"),
    "dense": ("ml-1m", "generated"),
}


def run(
    *,
    stages: str = "ranges,dense,public,bytes,others,times",
    sets: str = "",
    seeds: str = "0",
    seconds: float = 60.0,
    folder: str = ".carry/students",
    device: str = "auto",
    prepare: bool = False,
    join: str = "",
    known: str = "",
    widths: str = "",
    fix: bool = False,
    more: bool = False,
    quick: bool = False,
    file: Path | None = None,
    command: str = "",
    log_line: Callable[[str], object] = print,
) -> Row:
    """Run the stages that the file lacks.

    Parameters
    ----------
    stages
        Which, with commas between.
    sets
        Names of sets, with commas between; by default all of the stage.
    seeds
        Of splits and students, with commas between.
    seconds
        Of each search.
    folder
        Where the data are, as .npz.
    prepare
        Write the data there and end.
    join
        A folder with files of other runs, whose parts are taken.
    known
        A folder with files of other runs, whose choices `bytes`, `others` and `times` take.
    widths
        K of the students of `bytes`, with commas between.
    fix
        Make the ranges file of the parts `ranges`.
    more
        Go on with searches of `ranges` and `dense` that the file has.
    quick
        Small data and few steps: does it run at all?
    """
    if prepare:
        write_sets(Path(folder), (*PUBLIC, *(name for name in KEPT if name != "generated")))
        return {"benchmark": "students", "machine": describe_machine(), "parts": {}}
    record: Row = {"benchmark": "students", "machine": describe_machine(), "parts": _kept(file)}
    for other in _records(join):
        record = {**record, "machine": other["machine"], "parts": {**record["parts"], **other["parts"]}}
    before = {key: part for other in _records(known) for key, part in other["parts"].items()}

    def keep() -> None:
        if file is not None:
            write_json(file, {**provenance(command), **record})

    for stage, name, seed in () if join else _wanted(stages, sets, seeds, quick):
        key = f"{stage}/{name}/{seed}"
        part = record["parts"].get(key)
        if part and not part.get("unfinished") and not (more and stage in ("ranges", "dense")):
            continue
        chosen = CHOSEN[stage]({**before, **record["parts"]}, name) if stage in CHOSEN else None
        given = SMALL if quick else WIDE if stage in ("ranges", "dense") else read_ranges()
        job = Job(name, seed, Path(folder), 3.0 if quick else seconds, device, quick, given, chosen)
        if stage == "bytes" and widths:
            job = replace(job, widths=tuple(numbers(widths, "--widths")))
        if part:
            job = replace(job, earlier=part)
        _measure(STAGES[stage], job, record["parts"], key, keep)
        log_line(f"{key}: {json.dumps(_short(record['parts'][key]))}")
    if fix:
        write_json(RANGES_FILE, {**provenance(command), **fixed_ranges(record["parts"], WIDE)})
    keep()
    return record


def _measure(stage: Any, job: Job, parts: Row, key: str, keep: Callable[[], object]) -> None:
    """Run a stage; what it has so far is kept, and an error too, for the other stages are worth having."""

    def so_far(row: Row) -> None:
        parts[key] = row
        keep()

    parts.get(key, {}).pop("error", None)
    try:
        parts[key] = stage(job, so_far)
    except Exception as error:
        parts[key] = {**parts.get(key, {}), "unfinished": True, "error": in_one_line(error)}
    keep()


def _wanted(stages: str, sets: str, seeds: str, quick: bool) -> list[tuple[str, str, int]]:
    unknown = [stage for stage in stages.split(",") if stage not in STAGES]
    if unknown:
        raise ParameterError(f"no stage {unknown[0]!r}", f"choose from {', '.join(STAGES)}")
    return [
        (stage, name, seed)
        for stage in stages.split(",")
        for name in (sets.split(",") if sets else SETS[stage][:1] if quick else SETS[stage])
        for seed in numbers(seeds, "--seeds")
    ]


def _kept(file: Path | None) -> Row:
    if file is None or not file.exists() or not file.read_text(encoding="utf-8").strip():
        return {}
    parts: Row = json.loads(file.read_text(encoding="utf-8"))["parts"]
    return parts


def _records(folder: str) -> list[Row]:
    """The records of this study in a folder."""
    files = sorted(Path(folder).glob("*.json")) if folder else []
    loaded = [json.loads(file.read_text(encoding="utf-8")) for file in files]
    return [record for record in loaded if record.get("benchmark") == "students"]


def _public_choice(parts: Row, name: str) -> Row | None:
    """What the first run of `public` chose."""
    part = parts.get(f"public/{name}/0", {})
    return settings_of(part["best"]) if part.get("best") else None


def _public_part(parts: Row, name: str) -> Row | None:
    """The first run of `public`."""
    return parts.get(f"public/{name}/0")


def _earlier_choices(parts: Row, name: str) -> Row:
    """What `ranges` chose, and what the first part of `others` chose for its rivals."""
    chosen: Row = {}
    part = parts.get(f"ranges/{name}/0", {})
    if part.get("best"):
        chosen = {"student": settings_of(part["best"]), "rg2": settings_of(part["best_teacher"])}
    return {**chosen, **parts.get(f"others/{name}/0", {}).get("chosen", {})}


CHOSEN: dict[str, Callable[[Row, str], Row | None]] = {
    "times": _public_choice,
    "bytes": _public_part,
    "others": _earlier_choices,
}


def _short(part: Row) -> Row:
    return {key: value for key, value in part.items() if key in ("error", "best", "best_teacher", "seconds")}
