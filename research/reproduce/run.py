"""Fills a table: the papers' cleaning, split and metrics, every row tuned with the same budget."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Sequence
from pathlib import Path

from research.bench.quality.softmax_family import METRICS, composed, space_of
from research.datasets.unordered import unordered_split
from research.reproduce.tables import GROUPS, Table
from taylorank.data import datasets
from taylorank.errors import ParameterError
from taylorank.progress import Show
from taylorank.registry import MODELS
from taylorank.report.record import Record
from taylorank.selection import CompareProgress, Comparison, compare
from taylorank.selection.comparison import join_comparisons
from taylorank.selection.comparison_record import Data
from taylorank.selection.contenders import contenders
from taylorank.training.composition import is_composition

NO_TORCH = "torch is not installed", "pip install 'taylorank[torch]'"


def needs_torch(model: str) -> bool:
    """Whether a contender is a composition of the softmax family, trained by gradients.

    >>> [needs_torch(name) for name in ("rg2", "rg2/lightgcn", "bpr", "wrmf-paper")]
    [False, True, True, False]
    """
    return model not in MODELS and is_composition(model)


def left_out(models: Sequence[str]) -> list[str]:
    """Return those that cannot run here, for want of torch."""
    return [] if importlib.util.find_spec("torch") is not None else [name for name in models if needs_torch(name)]


def models_of(table: Table) -> list[str]:
    """Return the contenders of a table, each once."""
    return [name for name in dict.fromkeys(row.model for row in table.rows) if name != GROUPS]


def chosen_models(table: Table, asked: Sequence[str] | None, others: Sequence[Record] = ()) -> list[str]:
    """Return what is to run: what is asked for, else all of the table that can, less what other records hold."""
    if asked is not None:
        missing = left_out(asked)
        if missing:
            raise ParameterError(f"{', '.join(missing)}: {NO_TORCH[0]}", NO_TORCH[1])
        contenders(list(asked))  # a wrong name is found before the data are read
        return list(asked)
    known = models_of(table)
    done = {name for record in others for name in record["models"]}
    return [name for name in known if name not in left_out(known) and name not in done]


def data_of(table: Table, *, path: Path | None = None, cleaning: str | None = None, progress: Show = None) -> Data:
    """Return the data as the papers clean them, from files of yours if `path` names them."""
    if table.cleaning is None:
        if cleaning is not None:
            raise ParameterError(f"{table.name} is taken as it was published", "leave out the cleaning")
        return unordered_split(table.dataset, path=path, progress=progress)
    return datasets.get(table.dataset, cleaning=cleaning or table.cleaning, path=path, progress=progress)


def reproduce(
    table: Table,
    data: Data,
    models: Sequence[str],
    *,
    trials: int | None = None,
    seeds: Sequence[int] = (0, 1, 2),
    epochs: int | None = None,
    file: Path | None = None,
    per_user: bool = False,
    command: str | None = None,
    callback: Callable[[CompareProgress], object] | None = None,
) -> Comparison:
    """Compare `models` on the data by the table's protocol; `file` and `per_user` are those of `compare`.

    `trials` fits of tuning for each model on each seed (20); `epochs` in place of those that each backbone has.
    """
    train = data[0] if isinstance(data, tuple) else data
    by_gradients = {name: composed(name, train, epochs=epochs) for name in models if needs_torch(name)}
    return compare(
        data,
        [by_gradients.get(name, name) for name in models],
        spaces={name: space_of(model) for name, model in by_gradients.items()},
        protocol=table.protocol,
        seeds=seeds,
        trials=trials,
        metrics=METRICS,
        file=file,
        per_user=per_user,
        name=table.name,
        command=command,
        callback=callback,
    )


def joined(table: Table, comparisons: Sequence[Comparison]) -> Comparison:
    """Return several as one: same data, protocol, seeds and budget; of the metrics those that all have."""
    wanted = [m for m in METRICS if all(m in one.record["settings"]["metrics"] for one in comparisons)]
    wanted = list(dict.fromkeys([*wanted, *table.columns]))
    return join_comparisons([one.narrowed(wanted, like=comparisons[0].record) for one in comparisons])
