"""The names of the parts, for help and errors where torch is not installed."""

from __future__ import annotations

LOSS_NAMES = (
    "softmax",
    "sparsemax",
    "entmax",
    "rankmax",
    "rg2",
    "rgx",
    "sampled-softmax",
    "sampled-softmax-all",
    "sampled-softmax-negatives",
    "nce",
    "bpr",
    "bce",
    "ccl",
    "hinge",
    "uib",
    "sml",
    "hsm",
)
COSINE_LOSSES = ("ccl",)  # which have no minimum where scores may grow
BACKBONE_NAMES = ("mf", "lightgcn", "sasrec", "two-tower")
SAMPLER_NAMES = ("uniform", "popularity", "dynamic", "in-batch")
