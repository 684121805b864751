"""The ranges for the public sets, made of what was best on others."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from research.bench.quality.students.search import Ranges, settings_of
from research.places import HERE

RANGES_FILE = HERE.records / "students" / "ranges.json"
NEAR = 0.005  # of the best value on a set: settings that lose less are as good
LEAST_SETS = 2  # on which a value has to be among the best


def fixed_ranges(parts: Mapping[str, Any], wide: Ranges) -> dict[str, Any]:
    """Return for each parameter the values from the least to the greatest that were good on two sets or more.

    Good on a set: some setting with this value is within 0.5 % of the best setting found there.
    """
    sets = {key.split("/")[1]: part for key, part in parts.items() if key.startswith("ranges/") and part.get("trials")}
    good = {name: {value: _good_on(sets, name, value, values[0]) for value in values} for name, values in wide.items()}
    ranges = {
        name: _between(wide[name], [v for v, on in found.items() if len(on) >= LEAST_SETS])
        for name, found in good.items()
    }
    shown = {name: {str(value): on for value, on in found.items()} for name, found in good.items()}
    return {
        "rule": " ".join((fixed_ranges.__doc__ or "").split()),
        "sets": sorted(sets),
        "ranges": ranges,
        "good_on": shown,
    }


def _good_on(sets: Mapping[str, Any], name: str, value: Any, first: Any) -> list[str]:
    """The sets on which this value was good; a trial that does not name the parameter had the first value."""
    found = []
    for key, part in sets.items():
        best = max(trial["value"] for trial in part["trials"])
        having = [trial["value"] for trial in part["trials"] if settings_of(trial).get(name, first) == value]
        if having and max(having) >= (1 - NEAR) * best:
            found.append(key)
    return sorted(found)


def _between(values: Sequence[Any], good: Sequence[Any]) -> list[Any]:
    places = [list(values).index(value) for value in good]
    return list(values[min(places) : max(places) + 1]) if places else list(values)


def read_ranges() -> Ranges:
    """Return the ranges that were fixed."""
    ranges: Ranges = json.loads(RANGES_FILE.read_text(encoding="utf-8"))["ranges"]
    return ranges
