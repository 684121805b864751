"""RG² and iALS as estimators of pyspark.ml."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from threading import Lock
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from pyspark.ml import Estimator
from pyspark.ml.util import DefaultParamsReadable, DefaultParamsWritable

from taylorank.models.rg_parameters import rank_of_sizes, share_of_sizes
from taylorank.spark.files import write_model
from taylorank.spark.model import IALSModel, RG2Model
from taylorank.spark.params import FitParams, IALSParams, RG2Params, accessors, check_known
from taylorank.spark.prepared import Columns, Prepared, prepare
from taylorank.spark.row_als import SolvedRows, Weights, sweep_rows
from taylorank.spark.session import session_of, work_folder
from taylorank.spark.spectral import LeftRows, decompose

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

ON_THE_PATH = ("rank", "regParam")
OF_THE_MODEL = (
    "predictionCol",
    "rankCol",
    "rankLimit",
    "coldStartStrategy",
    "workDir",
    "ranking",
    "popularityDiscount",
)


@contextmanager
def prepared(estimator: FitParams, dataset: DataFrame, blind: tuple[str, ...] = ()) -> Iterator[tuple[Prepared, bool]]:
    """Yield the data of a fit in blocks, and whether their folder is temporary; then it goes if the fit fails.

    Parameters in `blind` do not change what a fit computes between its jobs, nor do those of the model.
    """
    folder, is_temporary = work_folder(session_of(dataset), estimator.value("workDir"))
    names = ("userCol", "itemCol", "strengthCol", "duplicates", "handleInvalid")
    columns = Columns(*(estimator.value(name) for name in names))
    settings = {"kind": type(estimator).__name__}
    for param in estimator.params:
        if param.name not in (*OF_THE_MODEL, *blind):
            settings[param.name] = estimator.value(param.name)
    try:
        began, blocks = time.perf_counter(), estimator.value("numUserBlocks")
        data = prepare(dataset, columns, folder, blocks=blocks, settings=settings)
        yield replace(data, seconds=time.perf_counter() - began), is_temporary
    except BaseException:
        if is_temporary:
            folder.remove()
        raise


class Numbered:
    """Pairs (number, model) that several threads may ask for, as those of CrossValidator do."""

    def __init__(self, pairs: Iterator[tuple[int, Any]]) -> None:
        self.pairs, self.lock = pairs, Lock()

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> tuple[int, Any]:
        with self.lock:
            return next(self.pairs)


@accessors
class RG2(Estimator, RG2Params, DefaultParamsReadable, DefaultParamsWritable):
    """RG² on a cluster: the model of `taylorank.RG2`, fitted to a DataFrame of interactions.

    Minimise Σ_x (c_x/2) Σ_y q_y (P_x·Q_y − s_xy)² + ½ λ Σ_x c_x ‖P_x‖² + ½ λ C Σ_y q_y ‖Q_y‖², by one SVD.

    Parameters are keywords, MLlib's where they mean the same: `userCol`, `itemCol`, `predictionCol`, `rank` (K),
    `regParam` (τ / σ₁), `coldStartStrategy`, `seed`, `numUserBlocks`; and `strengthCol` (none by default),
    `proposalExponent`, `contextExponent`, `scorePenalty`, `ranking`, `popularityDiscount`, `tol`, `maxIter` (the most
    passes; 0 for as many as it takes), `rankCol`, `duplicates`, `handleInvalid`, `workDir`, `itemMemory`. Defaults are
    those of `taylorank.RG2`, but for `regParam`: as `rank`, it follows from the size of the data, 0.7 (√(M/n) + √(N/n))
    and at most 0.4, which takes no passes over shuffled data; `explainParams()` lists all.
    """

    def __init__(self, **params: Any) -> None:
        super().__init__()
        check_known(self, params)
        self._set(**params)

    def _fit(self, dataset: DataFrame) -> RG2Model:
        self._check()
        with prepared(self, dataset, blind=("regParam",)) as (data, is_temporary):
            model: RG2Model = self._copyValues(self._fitted(data, is_temporary))
        return model

    def _fitted(self, data: Prepared, is_temporary: bool) -> RG2Model:
        sizes = data.n_users, data.n_items
        settled = {"rank": self.value("rank"), "regParam": self.value("regParam")}
        if settled["rank"] is None:
            settled["rank"] = rank_of_sizes(*sizes)
        if settled["regParam"] is None:
            settled["regParam"] = share_of_sizes(*sizes, data.interactions)
        found = decompose(
            data,
            settled["rank"],
            proposal_exponent=self.value("proposalExponent"),
            context_exponent=self.value("contextExponent"),
            score_penalty=self.value("scorePenalty"),
            tolerance=self.value("tol"),
            max_passes=self.value("maxIter") or None,
            random_state=self.value("seed"),
            item_memory=self.value("itemMemory"),
        )
        sums = found.sums
        rows = LeftRows(data.folder, sums.contexts, sums.total, tuple(found.values.tolist()), found.shards)
        facts = {
            "model": "RG2",
            "values": found.values.tolist(),
            "context_total": sums.total,
            "mean_context": sums.mean,
            "unit": sums.contexts.unit,
            "residual": found.residual,
            "passes": found.passes,
            "pass_seconds": found.pass_seconds,
            "pass_columns": found.pass_columns,
            "width": len(found.values),
            "shards": [] if found.shards is None else found.shards.bounds,
        }
        items: dict[str, Any] = {"proposal": found.proposal}
        if found.items is not None:
            items["vectors"] = found.items
        files = write_model(data, rows, items, facts, temporary=is_temporary)
        model = RG2Model(files)
        model._set(**settled)
        return model

    def fitMultiple(self, dataset: DataFrame, paramMaps: Sequence[Any]) -> Iterator[tuple[int, RG2Model]]:
        """Yield (number, model) for every set of parameters; those that differ along the path share one fit.

        `CrossValidator` calls this, so that a grid over `rank` and `regParam` costs one fit per fold.
        """
        return Numbered(self._fitted_to_all(dataset, [self.copy(params) for params in paramMaps]))

    def _fitted_to_all(self, dataset: DataFrame, copies: list[RG2]) -> Iterator[tuple[int, RG2Model]]:
        groups: dict[str, list[int]] = {}
        for number, own in enumerate(copies):
            key = json.dumps(
                {p.name: own.value(p.name) for p in own.params if p.name not in (*OF_THE_MODEL, *ON_THE_PATH)}
            )
            groups.setdefault(f"{own.isDefined('rank')} {key}", []).append(number)
        for numbers in groups.values():
            first = copies[numbers[0]].copy()
            first.clear(first.regParam)
            if first.isDefined("rank"):
                first._set(rank=max(copies[number].value("rank") for number in numbers))
            fitted = first.fit(dataset)
            for number in numbers:
                yield number, copies[number]._copyValues(fitted.copy())


@accessors
class IALS(Estimator, IALSParams, DefaultParamsReadable, DefaultParamsWritable):
    """iALS on a cluster: the model of `taylorank.IALS`, fitted to a DataFrame of interactions.

    Minimise Σ_observed r (o_xy − 1)² + w₀ Σ_all o_xy² + Σ_x λ (n_x + w₀N)^ν ‖P_x‖² + Σ_y λ (n_y + w₀M)^ν ‖Q_y‖².

    Parameters are keywords, MLlib's where they mean the same: `userCol`, `itemCol`, `predictionCol`, `rank` (K),
    `maxIter` (sweeps), `regParam` (λ), `coldStartStrategy`, `seed`, `numUserBlocks`; and `strengthCol`,
    `unobservedWeight`, `nu`, `solver`, `tol`, `rankCol`, `duplicates`, `handleInvalid`, `workDir`. Defaults are those
    of `taylorank.IALS`; `explainParams()` lists them all.
    """

    def __init__(self, **params: Any) -> None:
        super().__init__()
        check_known(self, params)
        self._set(**params)

    def _fit(self, dataset: DataFrame) -> IALSModel:
        self._check()
        with prepared(self, dataset) as (data, is_temporary):
            model: IALSModel = self._copyValues(self._fitted(data, is_temporary))
        return model

    def _fitted(self, data: Prepared, is_temporary: bool) -> IALSModel:
        weights = Weights(*(self.value(name) for name in ("unobservedWeight", "regParam", "nu", "solver")))
        found = sweep_rows(
            data,
            weights,
            self.value("rank"),
            sweeps=self.value("maxIter"),
            tolerance=self.value("tol"),
            random_state=self.value("seed"),
        )
        facts = {
            "model": "IALS",
            "unit": data.typical_strength,
            "losses": found.losses,
            "sweeps": found.sweep,
            "sweep_seconds": found.seconds,
        }
        rows = SolvedRows(data.folder, found.sweep)
        items = {"vectors": np.ascontiguousarray(found.items)}
        return IALSModel(write_model(data, rows, items, facts, temporary=is_temporary))
