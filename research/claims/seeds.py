"""Tests whether verdicts depend on the seed, for all claims that neither train by gradients nor take times.

    python -m research.claims --seeds 5

One line per claim; the exit code is 1 if a verdict is not the same for every seed. It takes less than a minute.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from research.claims import family_training, negatives
from research.claims.claim import Claim
from research.claims.registry import CLAIMS
from research.claims.run import obstacle_to

TRAINING = (family_training.__name__, negatives.__name__)


def steady_claims() -> list[Claim]:
    """Return the claims whose verdicts should not depend on the seed."""
    return [
        claim
        for claim in CLAIMS.values()
        if not (claim.heavy or claim.timed or claim.experiment.__module__ in TRAINING)
    ]


def verdicts(claim: Claim, *, seeds: int = 5) -> list[str]:
    """Return the verdict for every seed."""
    return [claim.judge(claim.measure(seed)).verdict for seed in range(seeds)]


def varying(claims: Iterable[Claim], *, seeds: int = 5, log_line: Callable[[str], object] = print) -> list[str]:
    """Show the verdicts of each claim; return those whose verdicts differ."""
    differ = []
    for claim in claims:
        obstacle = obstacle_to(claim, with_heavy=False)
        found = [] if obstacle else verdicts(claim, seeds=seeds)
        if len(set(found)) > 1:
            differ.append(claim.id)
        log_line(f"{claim.id}: {obstacle or ', '.join(dict.fromkeys(found))}")
    log_line(f"verdicts that depend on the seed (of {seeds}): {', '.join(differ) or 'none'}")
    return differ
