"""`taylorank`: the commands together, and how they fail."""

from __future__ import annotations

import os
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from cyclopts import App, CycloptsError
from rich.console import Console

from taylorank import __version__
from taylorank.cli import (
    compare,
    datasets,
    demo,
    diagnose,
    evaluate,
    explain,
    export,
    fit,
    fold_in,
    leakage,
    recommend,
    report,
    run,
    serve,
    similar,
    split,
    train,
    tune,
    update,
)
from taylorank.cli.completion import completion_of
from taylorank.cli.failures import failure_text
from taylorank.cli.old_spellings import respelled
from taylorank.cli.options import AS_WRITTEN, INVOKED, OPTIONS
from taylorank.errors import TaylorankError, shortened

HELP = """Ranking models from interaction logs, in closed form.

Start with one of these:

    taylorank run                             try it on generated data
    taylorank datasets list                   which public data there are
    taylorank datasets stats ratings.csv      what a file holds
    taylorank fit ml-1m --out model.tr        find a good model in a minute
    taylorank train ml-1m --out model.tr      fit a model and save it
    taylorank tune ml-1m --out model.tr       find good parameters first
    taylorank compare ml-1m --report r.html   find the best model
    taylorank serve model.tr                  answer requests over HTTP
    taylorank demo                            choose words, get words, in the browser

Exit codes: 0 done; 2 bad input or a file that cannot be written, said in one
line; 3 leakage found leaks; 130 interrupted (Ctrl-C); 143 terminated.
Anything else is a fault of taylorank, and comes with a traceback.
"""

# Commands of earlier versions, and what does their work now.
MOVED = {
    name: f"make {name}{rest} or python -m research.{name}"
    for name, rest in (("claims", ""), ("bench", " NAME=…"), ("reproduce", " TABLE=…"))
}


def version_line() -> str:
    """Return the version, and which kernels are in use."""
    from taylorank.kernels import kernel_info

    return f"taylorank {__version__} ({kernel_info()})"


app = App(
    name="taylorank",
    help=HELP,
    version=version_line,
    help_format="plaintext",
    group_parameters=OPTIONS,
    suppress_keyboard_interrupt=False,
)
app.command(run.run)
app.command(fit.fit)
app.command(train.train)
app.command(tune.tune)
app.command(compare.compare)
app.command(report.report)
app.command(split.split)
app.command(leakage.leakage)
app.command(update.update)
app.command(recommend.recommend)
app.command(fold_in.fold_in)
app.command(similar.similar)
app.command(explain.explain)
app.command(evaluate.evaluate)
app.command(export.export)
app.command(diagnose.diagnose)
app.command(serve.serve)
app.command(demo.demo)
app.command(datasets.app)
app.command(completion_of(app), name="completion")


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line of taylorank."""
    tokens = list(sys.argv[1:] if arguments is None else arguments)
    if tokens and tokens[0] in MOVED:
        _fail(f"{tokens[0]} is no part of the installed package; in a checkout run {MOVED[tokens[0]]}", 2)
    run_app(app, tokens, rewrite=respelled)


def run_app(
    app: App,
    arguments: Sequence[str] | None = None,
    *,
    program: str = "taylorank",
    rewrite: Callable[[Sequence[str]], list[str]] = list,
) -> None:
    """Run a command line; exit with 2 and one clear line on bad input, 130 when interrupted, 143 when terminated.

    `program` is written before the arguments in the command line that records keep; `rewrite` changes the arguments
    before they are parsed.
    """
    warnings.showwarning = _show_warning  # type: ignore[assignment]
    tokens = rewrite(sys.argv[1:] if arguments is None else arguments)
    INVOKED.set((*program.split(), *tokens))
    app.default_parameter = AS_WRITTEN
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # a terminal without × or → shows ? there
            stream.reconfigure(errors="replace")
    try:
        with _termination_as_interrupt():
            app(tokens, exit_on_error=False, print_error=False, result_action="return_value")
        sys.stdout.flush()
    except (TaylorankError, CycloptsError) as error:
        _fail(failure_text(error, program), 2)
    except KeyboardInterrupt as error:
        ended = isinstance(error, Terminated)
        _fail(f"{'terminated' if ended else 'interrupted'}; nothing is left half-written", 143 if ended else 130)
    except BrokenPipeError:
        _discard_output()
    except MemoryError as error:
        _fail(f"not enough memory ({' '.join(str(error).split())}); try smaller data or fewer factors", 2)
    except ImportError as error:  # also where a limit of memory leaves no room for a library
        _fail(f"a package cannot be loaded ({shortened(' '.join(str(error).split()))}); check what is installed", 2)
    except OSError as error:
        _fail(f"{error.strerror or error}{f': {error.filename}' if error.filename else ''}", 2)


class Terminated(KeyboardInterrupt):
    """The system asks this process to end (SIGTERM): what an interruption keeps, such as a checkpoint, is kept."""


@contextmanager
def _termination_as_interrupt() -> Iterator[None]:
    """Raise `Terminated` on the first SIGTERM; a second one ends the process at once."""

    def terminate(*_: object) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        raise Terminated

    if threading.current_thread() is not threading.main_thread():  # only there signals can be handled
        yield
        return
    before = signal.signal(signal.SIGTERM, terminate)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _discard_output() -> None:
    """Discard what is still to be printed: the program that read our output has ended."""
    sys.stdout = open(os.devnull, "w")  # noqa: SIM115


def _fail(line: str, code: int) -> None:
    print(f"taylorank: {line}", file=sys.stderr)
    sys.exit(code)


def _show_warning(message: Warning | str, *_: object) -> None:
    Console(stderr=True, soft_wrap=True).print(f"taylorank: warning: {message}", style="yellow", markup=False)
