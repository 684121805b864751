"""`taylorank run`: the whole way from data to a table of results."""

from __future__ import annotations

import importlib.util
import json
import shlex
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter
from rich.console import Console
from rich.table import Table

import taylorank
from taylorank.cli.options import Core, Quiet, Seed
from taylorank.cli.results import text_console
from taylorank.cli.run_report import write_run_report
from taylorank.cli.tables import print_fitting
from taylorank.data import Interactions, planted
from taylorank.models import IALS, RG2, Popularity
from taylorank.models.recommender import Recommender
from taylorank.output import atomic_path, output_folder
from taylorank.progress import narrated
from taylorank.ranking import Oracle, Rankable, evaluate, regret
from taylorank.selection import Choice, tune
from taylorank.selection.ranges import Space

# Each model has as many settings to choose from as the others: three parameters, rank among them, and 24 settings. RG
# gets its 24 from the paths of three fits; on large data `tune` looks at the most promising of them.
SETTINGS = 24
CHOSEN_BY = "ndcg@10"
# Chosen by NDCG@10 on validation data of other seeds (`python -m research.bench run-grid`) from ranges set by hand.
GRID_SEEDS = "10 to 14"
RG_SPACE: Space = {
    "proposal_exponent": Choice((0.5, 0.75, 1.0)),
    "factors": Choice((4, 8)),
    "regularization": Choice((0.0, 0.1, 0.2, 0.3)),
}
IALS_SPACE: Space = {
    "factors": Choice((8, 16)),
    "unobserved_weight": Choice((0.03, 0.1, 0.3)),
    "regularization": Choice((0.001, 0.003, 0.01, 0.03)),
}
COMPARED: dict[type[Recommender], Space] = {Popularity: {}, IALS: IALS_SPACE, RG2: RG_SPACE}

SHOWN = ("regret@10", "ndcg@10", "recall@10", "recall@20")
BOUND = "best possible"
ABOUT_DATA = (
    "planted: the data are simulated. Each user picks items with probabilities that are known (a softmax of hidden "
    "factors), so the best possible list of every user is known too",
    f"{BOUND}: ranks by these true probabilities; it is the limit for every model, not a contender",
    "RGX (RG×) has no row of its own: as a factor model it has the same solution as RG2",
    "settings: the best of so many by ndcg@10 on validation data is fitted and tested once; the values to choose from "
    f"were fixed before, by validation data of seeds {GRID_SEEDS} from ranges set by hand",
)
LEGEND = (
    "regret@10: how far a list of 10 is below the best possible one, in expected NDCG@10; 0 is best",
    "expected NDCG@10: the NDCG@10 that the list has on average over all that its user may pick next, by the true "
    "probabilities; unlike ndcg@10 it does not depend on which items chance put into the test data",
    *ABOUT_DATA,
    "seconds: fitting and choosing",
)


def run(
    *,
    users: Annotated[int, Parameter(help="Number of users to generate.")] = 2000,
    items: Annotated[int, Parameter(help="Number of items to generate.")] = 1000,
    interactions: Annotated[int, Parameter(help="Number of interactions to generate.")] = 60_000,
    core: Core = 5,
    out: Annotated[Path, Parameter(help="Write results.json, report.html and the model rg2.tr to this folder.")] = Path(
        "taylorank-run"
    ),
    seed: Seed = 0,
    quiet: Quiet = False,
) -> None:
    """Try it out: generate data, tune models and compare them.

    The data are planted: drawn from a known softmax model. So the table ends
    with the best possible ranking, and shows how far each model is from it.
    Every model with parameters is tuned on validation data.

    Example: taylorank run --users 5000 --interactions 200000 --out results
    """
    console = text_console(quiet)
    with output_folder(out) as folder:
        with narrated("planting data", not quiet):
            data = planted(users, items, interactions=interactions, random_state=seed).core(core)
        train, valid, test = data.split(random_state=seed)
        results = _fit_all(train, valid, test, console)
        target = folder / "results.json"
        with atomic_path(target) as temporary:
            temporary.write_text(json.dumps(_document(data, results, seed), indent=2) + "\n")
        explore = _save_model(results, folder / "rg2.tr")
        with narrated("drawing the report", not quiet):
            drawn = write_run_report(
                data, results, folder / "report.html", random_state=seed, notes=_sentences(ABOUT_DATA)
            )
    console.print(repr(data), markup=False)
    console.print(f"train {train.nnz:,}, validation {valid.nnz:,}, test {test.nnz:,} interactions\n")
    print_results(results, console)
    console.print("\n".join(("", *LEGEND, "", f"written: {target}", drawn, explore)))


def _save_model(results: list[dict[str, Any]], target: Path) -> str:
    """Keep the fitted RG2 with its path; return the line that names the command to explore it."""
    model = next(result["fitted"] for result in results if result["model"] == RG2.__name__)
    model.save(target, path=True)
    first = "" if importlib.util.find_spec("fastapi") else "  (first: pip install 'taylorank[serve]')"
    return f"explore the model: taylorank serve {shlex.quote(str(target))}{first}"


def _sentences(lines: Sequence[str]) -> list[str]:
    return [f"{line[0].upper()}{line[1:]}." for line in lines]


def _fit_all(train: Interactions, valid: Interactions, test: Interactions, console: Console) -> list[dict[str, Any]]:
    results = []
    for kind, space in COMPARED.items():
        with narrated(f"fitting {kind.__name__}", not console.quiet):
            found = tune(kind, train, valid, metric=CHOSEN_BY, space=space, trials=SETTINGS)
            if found.status == "interrupted":
                raise KeyboardInterrupt
            assert found.model is not None  # only an interrupted search has none
            results.append(
                {
                    "model": kind.__name__,
                    "settings": len({repr(trial.params) for trial in found.trials}),
                    "fits": found.fits,
                    "parameters": found.best,
                    **_measure(found.model, test, [train, valid]),
                    "fit_seconds": found.seconds,
                }
            )
    return [*results, {"model": BOUND, **_measure(Oracle(train), test, [train, valid])}]


def _measure(model: Rankable, test: Interactions, seen: list[Interactions]) -> dict[str, Any]:
    start = time.perf_counter()
    metrics = evaluate(model, test, seen=seen) | regret(model, test, k=10, seen=seen)
    return {"metrics": metrics, "evaluate_seconds": time.perf_counter() - start, "fitted": model}


def print_results(results: list[dict[str, Any]], console: Console) -> None:
    """Print the metrics of all models; their names and values are never cut."""
    table = Table(box=None, pad_edge=False)
    head, rows = ["model", *SHOWN, "settings", "seconds"], []
    for name in head:
        table.add_column(name, justify="left" if name == "model" else "right", no_wrap=True)
    for result in results:
        values = [f"{result['metrics'][name] + 0.0:.4f}" for name in SHOWN]
        spent = [str(result["settings"]), f"{result['fit_seconds']:.2f}"] if "settings" in result else ["", ""]
        rows.append([result["model"], *values, *spent])
        table.add_row(*rows[-1])
    print_fitting(table, head, rows, console)


def _document(data: Interactions, results: list[dict[str, Any]], seed: int) -> dict[str, Any]:
    from taylorank.machine import describe_machine

    return {
        "taylorank": taylorank.__version__,
        "seed": seed,
        "data": {
            "users": data.n_users,
            "items": data.n_items,
            "interactions": data.nnz,
            "steps": [asdict(step) for step in data.steps],
        },
        "protocol": "80/10/10 per user, full ranking, train and validation masked",
        "chosen_by": f"{CHOSEN_BY} on validation data",
        "legend": list(LEGEND),
        "results": [{key: value for key, value in result.items() if key != "fitted"} for result in results],
        "machine": describe_machine(),
    }
