"""From a raw log to clean train, validation and test data."""

from taylorank.data.csr import CSR
from taylorank.data.ids import Ids
from taylorank.data.interactions import Interactions
from taylorank.data.leakage import check_leakage
from taylorank.data.planting import planted
from taylorank.data.read import read_interactions
from taylorank.data.recency import faded
from taylorank.data.share import merge, share_ids
from taylorank.data.split import HeldOut
from taylorank.data.steps import Step
from taylorank.data.truth import Truth

__all__ = [
    "CSR",
    "HeldOut",
    "Ids",
    "Interactions",
    "Step",
    "Truth",
    "check_leakage",
    "faded",
    "merge",
    "planted",
    "read_interactions",
    "share_ids",
]
