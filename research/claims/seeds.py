"""Tests whether verdicts depend on the seed, for all claims that neither train by gradients nor take times.

    python -m research.claims.seeds

One line per claim; the exit code is 1 if a verdict is not the same for every seed. It takes less than a minute.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable

from research.claims import family_training, negatives
from research.claims.claim import Claim
from research.claims.registry import CLAIMS
from research.claims.run import obstacle_to

SEEDS = range(5)
TRAINING = (family_training.__name__, negatives.__name__)


def steady_claims() -> list[Claim]:
    """Return the claims whose verdicts should not depend on luck."""
    return [
        claim
        for claim in CLAIMS.values()
        if not (claim.heavy or claim.timed or claim.experiment.__module__ in TRAINING)
    ]


def verdicts(claim: Claim, *, seeds: Iterable[int] = SEEDS) -> list[str]:
    """Return the verdict for every seed."""
    return [claim.judge(claim.measure(seed)).verdict for seed in seeds]


def main(claims: Iterable[Claim]) -> int:
    """Print the verdicts of each claim; return 1 if those of one differ."""
    differ = []
    for claim in claims:
        obstacle = obstacle_to(claim, with_heavy=False)
        found = [] if obstacle else verdicts(claim)
        if len(set(found)) > 1:
            differ.append(claim.id)
        print(f"{claim.id}: {obstacle or ', '.join(dict.fromkeys(found))}", flush=True)
    print(f"verdicts that depend on the seed (of {len(SEEDS)}): {', '.join(differ) or 'none'}")
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main(steady_claims()))
