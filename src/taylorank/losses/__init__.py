"""The softmax family as PyTorch losses: pure functions, a registry, and criteria for training."""

from __future__ import annotations

from taylorank.torch_extra import require_torch

require_torch()

from taylorank.losses.batch import Negatives, Positives  # noqa: E402
from taylorank.losses.criterion import Criterion  # noqa: E402
from taylorank.losses.loss import Loss, Properties  # noqa: E402
from taylorank.losses.registry import LOSSES, get, names  # noqa: E402

__all__ = ["LOSSES", "Criterion", "Loss", "Negatives", "Positives", "Properties", "get", "names"]
