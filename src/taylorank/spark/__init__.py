"""RG², iALS and recommendation on Apache Spark, by the conventions of pyspark.ml; needs `taylorank[spark]`.

>>> from taylorank import spark
>>> sorted(spark.__all__)[:3]
['FactorsModel', 'IALS', 'IALSModel']
"""

import importlib
from typing import Any

_HOMES = {
    "RG2": "estimators",
    "IALS": "estimators",
    "RG2Model": "model",
    "IALSModel": "model",
    "FactorsModel": "model",
    "RankingEvaluator": "evaluator",
    "evaluate": "evaluation",
    "tune": "tuning",
    "from_local": "local",
}
__all__ = ["IALS", "RG2", "FactorsModel", "IALSModel", "RG2Model", "RankingEvaluator", "evaluate", "from_local", "tune"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'taylorank.spark' has no attribute {name!r}")
    from taylorank.spark.session import require_pyspark

    require_pyspark()
    return getattr(importlib.import_module(f"taylorank.spark.{_HOMES[name]}"), name)
