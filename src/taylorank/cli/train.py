"""`taylorank train`: from a file or a data set to a saved model."""

from __future__ import annotations

import inspect
import time
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter
from rich.console import Console

from taylorank.cli.model_options import NO_MODEL_OPTIONS, ModelOptions, default_model, make_model
from taylorank.cli.options import NO_OPTIONS, Cleaning, Core, Data, FileOptions, Quiet, Seed, Threads
from taylorank.cli.results import text_console
from taylorank.cli.saving import KeepTeacher, save_model
from taylorank.data import Interactions
from taylorank.data.source import open_data
from taylorank.errors import ParameterError
from taylorank.kernels import threads
from taylorank.models import Distilled
from taylorank.models.recommender import Recommender
from taylorank.output import check_place
from taylorank.registry import MODELS


def train(
    data: Data,
    /,
    *,
    cleaning: Cleaning = None,
    core: Core = None,
    model: Annotated[
        str | None,
        Parameter(
            help=f"Model to fit: {', '.join(MODELS)}. "
            "[default: rg2; neural if --loss, --backbone or --sampler is given]"
        ),
    ] = None,
    model_options: ModelOptions = NO_MODEL_OPTIONS,
    set: Annotated[
        list[str] | None,
        Parameter(help="Option of loss, backbone, sampler or teacher, as NAME=VALUE; can be repeated.", negative=()),
    ] = None,
    num_threads: Threads = None,
    checkpoint: Annotated[
        Path | None,
        Parameter(help="File that keeps the state of the fit; if interrupted, the same command continues from it."),
    ] = None,
    out: Annotated[Path, Parameter(help="Write the model to this file.")],
    seen: Annotated[
        bool, Parameter(help="Keep the users' interactions in the model file; --no-seen makes it smaller.")
    ] = True,
    path: Annotated[
        bool,
        Parameter(
            help="Keep the SVD of rg2 or rgx, so that the explorer can change rank and threshold.",
            negative=(),
            show_default=False,
        ),
    ] = False,
    keep_teacher: KeepTeacher = False,
    seed: Seed = 0,
    quiet: Quiet = False,
    options: FileOptions = NO_OPTIONS,
) -> None:
    """Fit a model and save it.

    Example: taylorank train ratings.csv --min-rating 3 --core 5 --out model.tr

    Example: taylorank train ml-1m --model ials --factors 64 --out ials.tr

    Example: taylorank train ml-1m --loss entmax --set alpha=1.3 --out entmax.tr

    Example: taylorank train ml-1m --model distilled --set teacher=ease --out m.tr
    """
    console = text_console(quiet)
    model = model or default_model(model_options)
    estimator = make_model(model, model_options, random_state=seed, options=set or [])
    if path and not (seen and getattr(estimator, "has_path", False)):
        raise ParameterError("--path keeps the SVD of rg2 or rgx", "use one of them, spectral, with the seen items")
    if keep_teacher and not isinstance(estimator, Distilled):
        raise ParameterError("--keep-teacher keeps the teacher of a student", "use --model distilled, or leave it out")
    check_place(out)
    with threads(num_threads):
        interactions = open_data(data, cleaning=cleaning, progress=not quiet, **options.given())
        interactions = interactions if core is None else interactions.core(core)
        console.print(repr(interactions), markup=False)
        start = time.perf_counter()
        _fit(estimator, interactions, console, checkpoint)
        save_model(estimator, out, console, keep_teacher=keep_teacher, with_seen=seen, path=path)
        console.print(f"fitted {model} in {time.perf_counter() - start:.1f} s, written: {out}")


def _fit(estimator: Recommender, data: Interactions, console: Console, checkpoint: Path | None) -> None:
    """Fit, with a line of progress on a terminal, and now and then one in a pipe."""
    more: dict[str, Any] = {}
    if checkpoint is not None:
        if "checkpoint" not in inspect.signature(estimator.fit).parameters:
            raise ParameterError(f"{type(estimator).__name__} is fitted in one step", "leave out --checkpoint")
        more["checkpoint"] = checkpoint
    estimator.fit(data, progress=not console.quiet, **more)
