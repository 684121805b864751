"""Parameters of the estimators and models: MLlib ALS's names where they mean the same, ours otherwise."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Self

from pyspark.ml.param import Param, Params, TypeConverters

from taylorank.checks import check_number
from taylorank.errors import ParameterError
from taylorank.models.rg_parameters import check_ranking

to_text, to_int, to_float = TypeConverters.toString, TypeConverters.toInt, TypeConverters.toFloat


def accessors(kind: type) -> type:
    """Give a class `getRank`, `setRank`, … for each of its parameters, as those of MLlib have."""
    for name in [name for name in dir(kind) if isinstance(getattr(kind, name), Param)]:
        word = name[0].upper() + name[1:]

        def get(self: Any, name: str = name) -> Any:
            return self.getOrDefault(name) if self.isDefined(name) else None

        def put(self: Any, value: Any, name: str = name) -> Any:
            return self._set(**{name: value})

        get.__doc__, put.__doc__ = f"Return `{name}`, None if it is not set.", f"Set `{name}`."
        for prefix, function in (("get", get), ("set", put)):
            if not hasattr(kind, prefix + word):
                setattr(kind, prefix + word, function)
    return kind


def _param(name: str, text: str, convert: Any) -> Any:
    return Param(Params._dummy(), name, text, typeConverter=convert)


INSTEAD = {
    "ratingCol": "name the column in strengthCol",
    "implicitPrefs": "leave it out: feedback is always implicit",
    "alpha": "leave it out; IALS weighs what was not observed by unobservedWeight",
    "nonnegative": "leave it out: factors may be negative",
    "numBlocks": "set numUserBlocks",
    **dict.fromkeys(
        ("numItemBlocks", "intermediateStorageLevel", "finalStorageLevel", "checkpointInterval", "blockSize"),
        "leave it out: it is not needed",
    ),
    "factors": "set rank",
    "regularization": "set regParam",
    "iterations": "set maxIter",
}


def check_known(owner: Params, names: Iterable[str]) -> None:
    """Refuse parameters that there are not; say what takes the place of those of MLlib's ALS."""
    for name in names:
        if not owner.hasParam(name):
            known = ", ".join(param.name for param in owner.params)
            raise UnknownParameterError(
                f"{type(owner).__name__} has no parameter {name!r}", INSTEAD.get(name, f"choose from {known}")
            )


class UnknownParameterError(ParameterError, AttributeError):
    """A parameter that there is not; pyspark.ml raises an AttributeError then."""


class ModelParams(Params):
    """What a fitted model needs."""

    userCol = _param("userCol", "column of user ids, of any plain type", to_text)
    itemCol = _param("itemCol", "column of item ids, of any plain type", to_text)
    predictionCol = _param("predictionCol", "column that transform adds: the score that ranks", to_text)
    rankCol = _param("rankCol", "column that transform adds, unless empty: the rank of the item for the user", to_text)
    rankLimit = _param("rankLimit", "ranks beyond this one are null in rankCol", to_int)
    coldStartStrategy = _param("coldStartStrategy", "unknown users and items in transform: nan or drop", to_text)
    rank = _param("rank", "K, the number of factors", to_int)

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._setDefault(
            userCol="user",
            itemCol="item",
            predictionCol="prediction",
            rankCol="",
            rankLimit=100,
            coldStartStrategy="nan",
        )

    def value(self, name: str) -> Any:
        """Return a parameter, or its default; None where the data decide."""
        return self.getOrDefault(name) if self.isDefined(name) else None

    def _check_model(self) -> None:
        if self.value("coldStartStrategy") not in ("nan", "drop"):
            raise ParameterError(
                f"coldStartStrategy={self.value('coldStartStrategy')!r} is unknown", "choose nan or drop"
            )
        for name in ("rank", "rankLimit"):
            if self.isDefined(name) and self.value(name) < 1:
                raise ParameterError(f"{name}={self.value(name)} is below 1", "give a whole number of at least 1")


class FitParams(ModelParams):
    """What a fit needs, whatever the model."""

    strengthCol = _param("strengthCol", "column of strengths r ≥ 0; empty: 1 for every row", to_text)
    duplicates = _param("duplicates", "strength of a pair that comes more than once: max or sum", to_text)
    handleInvalid = _param("handleInvalid", "rows without id or strength: error or skip", to_text)
    maxIter = _param("maxIter", "IALS: sweeps; RG2: the most passes, 0 for as many as it takes", to_int)
    regParam = _param("regParam", "RG2: share of σ₁ in [0, 1); IALS: λ", to_float)
    tol = _param(
        "tol", "when to stop; RG2: largest residual over σ₁, IALS: least decrease of the loss, 0 for none", to_float
    )
    seed = _param("seed", "of the random start", to_int)
    numUserBlocks = _param("numUserBlocks", "blocks of users; 0: one per task that runs at a time, or more", to_int)
    workDir = _param("workDir", "folder that all machines reach, where a fit leaves what it needs to go on", to_text)

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._setDefault(strengthCol="", duplicates="max", handleInvalid="error", seed=0, numUserBlocks=0, workDir="")

    def setParams(self, **params: Any) -> Self:
        """Set parameters by keyword, as the constructor does."""
        check_known(self, params)
        self._set(**params)
        return self

    def _check_fit(self) -> None:
        self._check_model()
        for name, allowed in (("duplicates", ("max", "sum")), ("handleInvalid", ("error", "skip"))):
            if self.value(name) not in allowed:
                raise ParameterError(f"{name}={self.value(name)!r} is unknown", f"choose {' or '.join(allowed)}")
        for name in ("maxIter", "numUserBlocks", "seed", "tol", "regParam"):
            if self.isDefined(name):
                check_number(self.value(name), name, least=0.0)


def check_path_share(share: float) -> None:
    """Refuse a share of σ₁ outside [0, 1)."""
    if not 0 <= share < 1:
        raise ParameterError(f"regParam={share} is outside [0, 1)", "it is a share of σ₁: try 0.1 to 0.4")


class RG2Params(FitParams):
    """Those of RG²; see `taylorank.RG2`. The size of the data decides `rank` and `regParam` where they are not set."""

    itemMemory = _param(
        "itemMemory", "MB of item vectors in the driver and in each task, beyond them in files; 0: by memory", to_float
    )
    proposalExponent = _param("proposalExponent", "γ: q_y ∝ popularity^γ", to_float)
    contextExponent = _param("contextExponent", "ρ: users are weighted by I^ρ", to_float)
    scorePenalty = _param("scorePenalty", "κ over the mean weight of users", to_float)
    ranking = _param("ranking", "probability or lift", to_text)
    popularityDiscount = _param("popularityDiscount", "δ: rank by p / popularity^δ", to_float)

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._setDefault(
            maxIter=0,
            tol=1e-5,
            itemMemory=0.0,
            proposalExponent=0.7,
            contextExponent=1.4,
            scorePenalty=0.0,
            ranking="probability",
            popularityDiscount=0.0,
        )

    def _check(self) -> None:
        self._check_fit()
        if self.isDefined("regParam"):
            check_path_share(self.value("regParam"))
        for name in ("scorePenalty", "itemMemory"):
            check_number(self.value(name), name, least=0.0)
        check_ranking(self.value("ranking"), self.value("popularityDiscount"))


class IALSParams(FitParams):
    """Those of iALS; see `taylorank.IALS`."""

    unobservedWeight = _param("unobservedWeight", "w₀, the weight of all pairs", to_float)
    nu = _param("nu", "ν: rows are penalised by λ (n + w₀ N)^ν", to_float)
    solver = _param("solver", "auto, cholesky, cg or blocks", to_text)

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._setDefault(rank=64, maxIter=16, regParam=0.003, tol=0.0, unobservedWeight=0.1, nu=1.0, solver="auto")

    def _check(self) -> None:
        self._check_fit()
        for name in ("unobservedWeight", "nu"):
            check_number(self.value(name), name, least=0.0)
        check_number(self.value("maxIter"), "maxIter", least=1.0)
        if self.value("solver") not in ("auto", "cholesky", "cg", "blocks"):
            raise ParameterError(f"solver={self.value('solver')!r} is unknown", "choose auto, cholesky, cg or blocks")
