"""The result of a comparison: its record and each user's values, read, written, and joined with others."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from taylorank.data.frames import Library, frame_of
from taylorank.errors import DataError
from taylorank.report.notebook import chart_of, comparison_columns, comparison_html, comparison_text
from taylorank.report.page import write_report
from taylorank.report.record import Record, as_it_was_written, read_record, save_record, without_user_values
from taylorank.selection.per_user import PerUser, Place, kept_path, load_per_user, save_per_user, values_inside
from taylorank.selection.summary import summarise

SAME = ("data", "protocol", "settings", "budget")


@dataclass(frozen=True, repr=False)
class Comparison:
    """The result of `compare`: `record` holds what a report needs, as JSON has it (see `report.record`).

    `per_user` has each user's values of the runs that kept them.
    """

    record: Record
    per_user: PerUser = field(default_factory=dict, compare=False)

    @property
    def best(self) -> str | None:
        """The name of the best model by the primary metric; None if all failed."""
        best: str | None = self.record["summary"]["best"].get(self.record["settings"]["primary"])
        return best

    @property
    def models(self) -> dict[str, Any]:
        """The summary of each model: means, intervals, comparison with the best, seconds, memory."""
        models: dict[str, Any] = self.record["summary"]["models"]
        return models

    def __repr__(self) -> str:
        """Return the models from best to worst; the record is long."""
        primary = self.record["settings"]["primary"]
        means = {name: found["metrics"][primary]["mean"] for name, found in self.models.items() if "metrics" in found}
        shown = [f"{name} {means[name]:.4f}" for name in sorted(means, key=means.__getitem__, reverse=True)]
        shown += [f"{name} failed" for name in self.models if name not in means]
        return f"Comparison({primary}: {', '.join(shown)})"

    def __str__(self) -> str:
        """Return the result in words and the table of all models, as the command line prints it."""
        return comparison_text(self.record)

    def _repr_html_(self) -> str:
        return comparison_html(self.record)

    def to_frame(self, library: Library | None = None) -> Any:
        """Return one row for each model and metric: mean, interval, adjusted p against the best, seconds, memory."""
        return frame_of(comparison_columns(self.record), library)

    def plot(self, kind: str = "forest") -> Any:
        """Return a chart (altair) of the report: "forest", "trade-off", "by-cutoff", "by-popularity", "tuning", …"""
        return chart_of(self.record, kind)

    def save(self, path: Place, *, per_user: bool = False) -> None:
        """Write the record as JSON, atomically, and if asked for each user's values beside it (NAME.users.npz)."""
        if per_user:
            save_per_user(self.per_user, kept_path(path), self.record)
        save_record(self.record, path)

    @classmethod
    def load(cls, path: Place) -> Comparison:
        """Read what `save` wrote, each user's values if they were kept; unknown versions are refused."""
        found = read_record(path)
        loaded = cls(without_user_values(found), values_inside(found) or load_per_user(kept_path(path), found))
        with as_it_was_written(path):
            str(loaded)
            loaded.to_frame()
        return loaded

    def report(self, path: Place) -> None:
        """Write the report, one HTML file; needs the extra [report]."""
        write_report(self.record, path)

    def narrowed(self, metrics: Sequence[str], *, like: Record) -> Comparison:
        """Return it with these metrics alone, and with the description of the data that `like` has.

        Comparisons made apart may report different metrics and call their data differently; what must agree is the
        fingerprint of the data.
        """
        record, settings = self.record, self.record["settings"]
        missing = [metric for metric in metrics if metric not in settings["metrics"]]
        if missing:
            raise DataError(f"a comparison lacks {', '.join(missing)}", "leave it out, or compare again")
        if settings["primary"] not in metrics:
            raise DataError(f"{settings['primary']}, which chose, is not among the metrics", "name it too")
        if settings["fingerprint"] != like["settings"]["fingerprint"]:
            raise DataError(
                f"a comparison is of other data ({record['data']['name']}, not {like['data']['name']})",
                "join only those of the same interactions",
            )
        order = [metric for metric in like["settings"]["metrics"] if metric in metrics]
        runs = [run if run["error"] else {**run, "metrics": _of(order, run["metrics"])} for run in record["runs"]]
        narrow = {**record, "data": like["data"], "settings": {**settings, "metrics": order}, "runs": runs}
        return replace(self, record=narrow)


def join_comparisons(comparisons: Sequence[Comparison]) -> Comparison:
    """Return one comparison with the models and runs of all; data, protocol, metrics, seeds and budget must agree.

    The machine and the command are those of the first. Models of two comparisons are tested against each other where
    both kept each user's values; where one did not, the summary marks the pair as not tested.
    """
    if not comparisons:
        raise DataError("there is no comparison to join", "give at least one")
    joined = copy.deepcopy(comparisons[0].record)
    for record in (one.record for one in comparisons[1:]):
        differs = [part for part in SAME if record[part] != joined[part]]
        if differs:
            raise DataError(f"the comparisons differ in {', '.join(differs)}", "join only those made in the same way")
        twice = sorted(record["models"].keys() & joined["models"].keys())
        if twice:
            raise DataError(f"two of the comparisons have {twice[0]}", "leave one of them out")
        joined["models"] |= record["models"]
        joined["runs"] += record["runs"]
    per_user = {run: values for one in comparisons for run, values in one.per_user.items()}
    known = [one.record["summary"] for one in comparisons]
    return Comparison({**joined, "summary": summarise(joined, per_user, known=known)}, per_user)


def _of(metrics: Sequence[str], values: dict[str, float]) -> dict[str, float]:
    return {metric: values[metric] for metric in metrics}
