"""`taylorank train`: from a file or a data set to a saved model."""

from __future__ import annotations

import inspect
import time
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter
from rich.console import Console

from taylorank.cli.model_options import NO_MODEL_OPTIONS, ModelOptions, default_model, make_model
from taylorank.cli.options import NO_OPTIONS, FileOptions
from taylorank.cli.progress import progress_line
from taylorank.data import Interactions
from taylorank.data.source import open_data
from taylorank.errors import ParameterError
from taylorank.kernels import threads
from taylorank.models.recommender import Recommender
from taylorank.output import output_folder
from taylorank.registry import MODELS


def train(
    data: Annotated[str, Parameter(help="A file, or a name from `taylorank datasets list`.")],
    /,
    *,
    out: Annotated[Path, Parameter(help="File for the model.")],
    model: Annotated[
        str | None,
        Parameter(help=f"What to fit: {', '.join(MODELS)} [rg2; neural with --loss, --backbone or --sampler]."),
    ] = None,
    model_options: ModelOptions = NO_MODEL_OPTIONS,
    set: Annotated[
        list[str] | None,
        Parameter(help="An option of the loss, backbone or sampler, as name=value; may be repeated.", negative=()),
    ] = None,
    core: Annotated[int | None, Parameter(help="First keep users and items with this many interactions.")] = None,
    protocol: Annotated[str | None, Parameter(help="For data sets: raw, paper, …")] = None,
    options: FileOptions = NO_OPTIONS,
    seen: Annotated[bool, Parameter(help="Keep in the file what users met; --no-seen makes it smaller.")] = True,
    num_threads: Annotated[int | None, Parameter(help="Threads; the result is the same.")] = None,
    checkpoint: Annotated[
        Path | None, Parameter(help="File that an interrupted fit leaves and the same command goes on from.")
    ] = None,
    seed: Annotated[int, Parameter(help="Seed of the solver's start.")] = 0,
    quiet: Annotated[bool, Parameter(help="Print nothing.", negative=())] = False,
) -> None:
    """Fit a model and save it.

    Example: taylorank train ratings.csv --min-rating 3 --core 5 --factors 64 --out model.tr

    Example: taylorank train ml-1m --model ials --unobserved-weight 0.1 --regularization 0.003 --out ials.tr

    Example: taylorank train ml-1m --loss entmax --set alpha=1.3 --backbone lightgcn --epochs 30 --out entmax.tr
    """
    console = Console(quiet=quiet, highlight=False, soft_wrap=True)
    model = model or default_model(model_options)
    estimator = make_model(model, model_options, seed=seed, options=set or [])
    with output_folder(out.parent), threads(num_threads):
        interactions = open_data(data, protocol=protocol, **options.given())
        interactions = interactions if core is None else interactions.core(core)
        console.print(repr(interactions), markup=False)
        start = time.perf_counter()
        _fit(estimator, interactions, console, checkpoint)
        estimator.save(out, with_seen=seen)
        console.print(f"fitted {model} in {time.perf_counter() - start:.1f} s, written: {out}")


def _fit(estimator: Recommender, data: Interactions, console: Console, checkpoint: Path | None) -> None:
    """Fit, with a line that follows the progress if somebody is looking: to know the loss takes time."""
    more: dict[str, Any] = {}
    if checkpoint is not None:
        if "checkpoint" not in inspect.signature(estimator.fit).parameters:
            raise ParameterError(f"{type(estimator).__name__} is fitted in one step", "leave out --checkpoint")
        more["checkpoint"] = checkpoint
    if console.quiet or not console.is_terminal:
        estimator.fit(data, **more)
        return
    with console.status("fitting") as status:

        def show(progress: Any) -> None:
            status.update(f"fitting: {progress_line(progress)}")

        estimator.fit(data, callback=show, **more)
