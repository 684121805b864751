"""The softmax family: what is known of each loss, its pure function, and its criterion for training.

Names, formulas, options and properties are read without torch; functions and criteria are PyTorch.

>>> names()[:3], get("entmax").options["alpha"]
(['softmax', 'sparsemax', 'entmax'], 1.5)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from taylorank.losses.loss import Loss, Properties
from taylorank.losses.registry import LOSSES, get, names
from taylorank.torch_extra import lazy_names

if TYPE_CHECKING:
    from taylorank.losses.batch import Negatives, Positives
    from taylorank.losses.criterion import Criterion

__all__ = ["LOSSES", "Criterion", "Loss", "Negatives", "Positives", "Properties", "get", "names"]
__getattr__ = lazy_names(__name__, {"Criterion": "criterion", "Negatives": "batch", "Positives": "batch"})


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
