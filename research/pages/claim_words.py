"""What stands before the claims in the pages of their detail."""

from __future__ import annotations

from research.claims.claim import CORRECTED, FAILS, HOLDS, UNDECIDED, UNTESTED

MARKS = {HOLDS: "✓", CORRECTED: "≈", FAILS: "✗", UNDECIDED: "?", UNTESTED: "–"}
HEAD = """# Every claim in detail

[What to take from it](claims.md) is a page of its own. Here every claim has a line that leads to what was measured,
and how.

{summary}

## How verdicts are made

Every verdict is computed from the claim's numbers by a small function. A test changes the setting of each experiment
so that its verdict must change; where that would need a clock or hours of training, the function is tested on made-up
numbers instead, and no change is named.

- **holds with a correction**: false as printed, true in the form given under *Instead*.
- **fails**: *Instead* says what was seen.
- **not decided**: what was measured is within its own noise.

The last of these commands makes the pages from the files that the others wrote; claims on real data are tested only
on request, and until then stand as not testable here:

{commands}

## How sure they are

- Identities, counterexamples and exact expectations do not depend on the seed. Their verdicts, and all others that
  need neither training by gradients nor a clock nor real data, are the same for the seeds 0 to 4, which `python -m
  research.claims --seeds 5` tests.
- Claims that train models or take times run on small planted data or rest on a few comparisons on real data. The
  rules that decide these were settled after looking at pilot runs or at the records; read them as what was seen here,
  not as a test that was fixed beforehand: {pilot}.

## Words

- A *context* x (a user) has interacted with some *items* y; I_x is how many, N the number of all items, r_xy is 1 for
  a pair that interacted.
- A model gives *scores* o_xy = P_x · Q_y, of *rank* K. *Softmax loss* makes the chosen items likely among all. *RG²*
  is its second-order expansion at zero scores, a sum of squares; *RG×* keeps one more term.
- *ALS* solves for P and Q alternately, a *sweep* being one solution of each.
- *DCG* and *NDCG* measure a ranking, with more weight on higher ranks; *regret* is what a ranking loses against the
  best possible one. A loss is *consistent* with DCG if its best scores rank best.
- A *proposal* q is the distribution that negatives are drawn from.

## The documents

{references}

```{{toctree}}
:hidden:

{pages}
```
"""
GROUP_HEAD = """# {group}

Claims of the papers, each with what was measured. [All claims](../claims-in-detail.md), [what to take from
them](../claims.md).

"""
# Their thresholds or the number of data sets were changed after a look at pilot runs.
PILOT = (
    "sparsemax-needs-fewer-epochs",
    "calibrated-loss-calibrated-probabilities",
    "softmax-bears-larger-rates",
    "nce-plateaus",
    "warm-start-from-softmax",
    "cost-of-a-sweep",
    "rgx-closer-to-softmax",
    "als-linear",
    "nce-plateaus-on-ml-1m",
    "warm-start-from-softmax-on-real-data",
    "finding-1-on-ml-1m",
    "finding-2-on-ml-1m",
    "finding-3-on-ml-1m",
    "gains-in-every-regime",
    "rg-under-first-order-steps",
    "sgd-sublinear",
    "small-penalty-explodes-scores",
)
