"""`taylorank train`: from a file or a data set to a saved model."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter
from rich.console import Console

from taylorank.cli.options import NO_OPTIONS, FileOptions
from taylorank.data.source import open_data
from taylorank.models import RG2, RGX
from taylorank.output import output_folder

MODELS = {"rg2": RG2, "rgx": RGX}


def train(
    data: Annotated[str, Parameter(help="A file, or a name from `taylorank datasets list`.")],
    /,
    *,
    out: Annotated[Path, Parameter(help="File for the model.")],
    model: Annotated[Literal["rg2", "rgx"], Parameter(help="What to fit.")] = "rg2",
    factors: Annotated[int, Parameter(help="Rank of the model.")] = 128,
    regularization: Annotated[float, Parameter(help="Threshold as a share of the largest singular value.")] = 0.2,
    proposal_exponent: Annotated[float, Parameter(help="Exponent of item popularity in the proposal.")] = 0.6,
    context_exponent: Annotated[float, Parameter(help="Exponent of user activity in the weights.")] = 1.2,
    ranking: Annotated[Literal["probability", "lift"], Parameter(help="What to rank by.")] = "probability",
    core: Annotated[int | None, Parameter(help="First keep users and items with this many interactions.")] = None,
    protocol: Annotated[str | None, Parameter(help="For data sets: raw, paper, …")] = None,
    options: FileOptions = NO_OPTIONS,
    seed: Annotated[int, Parameter(help="Seed of the solver's start.")] = 0,
    quiet: Annotated[bool, Parameter(help="Print nothing.", negative=())] = False,
) -> None:
    """Fit a model and save it.

    Example: taylorank train ratings.csv --min-rating 3 --core 5 --factors 64 --out model.tr
    """
    console = Console(quiet=quiet, highlight=False, soft_wrap=True)
    with output_folder(out.parent):
        interactions = open_data(data, protocol=protocol, **options.given())
        interactions = interactions if core is None else interactions.core(core)
        console.print(repr(interactions), markup=False)
        estimator = MODELS[model](
            factors,
            regularization=regularization,
            proposal_exponent=proposal_exponent,
            context_exponent=context_exponent,
            ranking=ranking,
            random_state=seed,
        )
        start = time.perf_counter()
        with console.status("fitting") as status:
            estimator.fit(
                interactions,
                callback=lambda p: status.update(f"fitting: {p.step} passes, residual {p.residual:.1e}"),
            )
        estimator.save(out)
        console.print(f"fitted in {time.perf_counter() - start:.1f} s, written: {out}")
