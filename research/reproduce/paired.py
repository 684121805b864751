"""Two models of a table tested against each other, whatever records they are in.

A user's difference d_x is that of the two models' values, each averaged over seeds; `selection.significance` has the
test. It needs each user's values, which are not kept in the repository: the tests of all rows of a table are made while
they are there and kept in records/paired/TABLE.json.

    python -m research.comparisons pairs ml-1m
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np

from research.output import write_json
from research.places import HERE, Places
from research.reproduce.gather import Gathered
from research.reproduce.tables import Table
from taylorank.errors import DataError
from taylorank.report.record import by_columns, by_rows
from taylorank.selection import Comparison
from taylorank.selection.per_user import PerUser
from taylorank.selection.significance import mean_interval, sign_flip_test
from taylorank.selection.summary import user_means

SCHEMA = "taylorank paired tests"


@dataclass(frozen=True)
class PairedTest:
    """The mean difference of two models, first − second, with its 95 % interval and p."""

    first: str
    second: str
    metric: str
    seeds: list[int]
    difference: float
    low: float
    high: float
    p: float


class PairedTests:
    """The tests between the models of a table: those on file, others computed where each user's values are kept."""

    def __init__(self, table: Table, found: Gathered, places: Places = HERE) -> None:
        self.file = places.records / "paired" / f"{table.name}.json"
        self._found, self._root = found, places.root
        self._values: dict[str, PerUser] = {}
        self._known = {(test.first, test.second, test.metric, *test.seeds): test for test in self._on_file()}

    def test(self, first: str, second: str, metric: str, *, seeds: Sequence[int]) -> PairedTest | None:
        """Return the test of two models on some seeds; None if it was not made and values are missing."""
        known = self._known.get((first, second, metric, *seeds)) or self._known.get((second, first, metric, *seeds))
        return known or self._made(first, second, metric, list(seeds))

    def save(self, models: Sequence[str], metrics: Sequence[str]) -> tuple[int, int]:
        """Write the tests of all pairs on the seeds that both models have; return how many there are of how many."""
        wanted = [
            (*pair, metric, sorted(set.intersection(*(set(self._found.by_seed(one, metric)) for one in pair))))
            for pair in itertools.combinations(models, 2)
            for metric in metrics
        ]
        made = [self.test(first, second, metric, seeds=seeds) for first, second, metric, seeds in wanted if seeds]
        rows = [asdict(test) for test in made if test is not None]
        document = {"schema": SCHEMA, "written": {model: self._written(model) for model in models}}
        self.file.parent.mkdir(parents=True, exist_ok=True)
        write_json(self.file, {**document, "tests": by_columns(rows)}, indent=None)
        return len(rows), len(made)

    def _on_file(self) -> list[PairedTest]:
        """The tests of runs that the records still hold."""
        if not self.file.exists():
            return []
        record = json.loads(self.file.read_text(encoding="utf-8"))
        if record.get("schema") != SCHEMA:
            raise DataError(f"{self.file} holds no paired tests", "remove it")
        same = {model for model, written in record["written"].items() if written == self._written(model)}
        tests = [PairedTest(**row) for row in by_rows(record["tests"])]
        return [test for test in tests if {test.first, test.second} <= same]

    def _written(self, model: str) -> str | None:
        """When the record that has a model was begun."""
        record = self._found.records.get(self._found.sources.get(model, ""))
        return None if record is None else str(record["written"])

    def _made(self, first: str, second: str, metric: str, seeds: list[int]) -> PairedTest | None:
        values = [[self._per_user(model).get((model, seed)) for seed in seeds] for model in (first, second)]
        n_users = 1 + max((int(run.users.max(initial=0)) for runs in values for run in runs if run), default=0)
        means = [user_means(runs, metric, n_users) for runs in values]
        if means[0] is None or means[1] is None:
            return None
        d = means[0] - means[1]
        d = d[np.isfinite(d)]
        numbers = [_rounded(number) for number in (*mean_interval(d), float(sign_flip_test(d)[0]))]
        return PairedTest(first, second, metric, seeds, *numbers)

    def _per_user(self, model: str) -> PerUser:
        file = self._found.sources.get(model, "")
        if file not in self._values:
            known = file in self._found.records and (self._root / file).exists()
            self._values[file] = Comparison.load(self._root / file).per_user if known else {}
        return self._values[file]


def _rounded(number: float) -> float:
    """Six figures: more than any table shows."""
    return float(f"{number:.6g}")
