"""The claims of the papers: each a small experiment with a verdict that is computed from its numbers."""

from research.claims.claim import VERDICTS, Claim, Judgement
from research.claims.registry import CLAIMS, claim_named
from research.claims.run import run_claim, run_claims

__all__ = ["CLAIMS", "VERDICTS", "Claim", "Judgement", "claim_named", "run_claim", "run_claims"]
