"""The result of tuning for people: on one screen, in a notebook, as columns, as a chart."""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from taylorank.data.html import html_table
from taylorank.errors import MissingExtraError

if TYPE_CHECKING:
    from taylorank.selection.trials import Trial
    from taylorank.selection.tuning import Tuning

SHOWN = 5  # trials
WIDTH = 78


def tuning_text(found: Tuning) -> str:
    """Return at most a screen of text: the parameters chosen first."""
    ending = "" if found.status == "complete" else ", interrupted"
    lines = [
        f"{found.name}: {found.metric} {found.value:.4f} on validation data{ending}",
        f"chosen: {params_words(found.best) or 'its own parameters'}",
        effort_words(found),
    ]
    if len(found.trials) > 1:
        best = ranked(found)[:SHOWN]
        differing = telling(best)
        lines += ["the best trials:", *(f"  {trial_words(trial, differing)}" for trial in best)]
    return "\n".join([*lines, *(f"- {line}" for line in found.advice)])


def tuning_html(found: Tuning) -> str:
    """Return the chosen parameters and the best trials for notebooks."""
    names = list(found.best)
    rows = []
    for trial in ranked(found)[: 2 * SHOWN]:
        value = "–" if trial.value is None else f"{trial.value:.4f}"
        cells = [short(trial.params.get(name)) for name in names]
        rows.append([value, *cells, f"{trial.seconds:.2f}", trial.status])
    caption = f"{found.name}: {found.metric} {found.value:.4f}; chosen: {params_words(found.best)}"
    return html_table([found.metric, *names, "seconds", "status"], rows, caption=caption, more=" ".join(found.advice))


def trial_columns(found: Tuning) -> dict[str, list[Any]]:
    """Return the trials by column: parameters, value, users, seconds, fit, status, note."""
    names = list(dict.fromkeys(name for trial in found.trials for name in trial.params))
    params = {name: [_plain(trial.params.get(name)) for trial in found.trials] for name in names}
    facts = ("value", "users", "seconds", "fit", "status", "note")
    return params | {name: [getattr(trial, name) for trial in found.trials] for name in facts}


def tuning_chart(found: Tuning) -> Any:
    """Return every trial as a point, and the best so far as a line."""
    try:
        alt = importlib.import_module("altair")
    except ImportError as error:
        raise MissingExtraError("a chart needs altair", "pip install 'taylorank[report]'") from error
    rows, best = [], None
    for number, trial in enumerate(found.trials, start=1):
        if trial.value is None:
            continue
        best = trial.value if best is None else max(best, trial.value)
        words = params_words(trial.params)
        rows.append({"trial": number, "value": trial.value, "best so far": best, "parameters": words})
    base = alt.Chart(alt.Data(values=rows)).encode(x=alt.X("trial:Q", axis=alt.Axis(tickMinStep=1, format="d")))
    scale = alt.Scale(zero=False)
    points = base.mark_point(filled=True).encode(
        y=alt.Y("value:Q", title=found.metric, scale=scale), tooltip=["trial:Q", "value:Q", "parameters:N"]
    )
    line = base.mark_line(interpolate="step-after").encode(y=alt.Y("best so far:Q", scale=scale))
    return (line + points).properties(title=f"{found.name}: {found.metric} on validation data")


def ranked(found: Tuning) -> list[Trial]:
    """Return the trials from best to worst; those judged on the most users first."""
    return sorted(found.trials, key=lambda t: (-t.users, float("inf") if t.value is None else -t.value))


def effort_words(found: Tuning) -> str:
    """Return how many trials and fits a search took, how long, and how it went about it."""
    trials, fits = len(found.trials), found.fits
    counts = f"{trials:,} trial{'s' * (trials != 1)} on {fits:,} fit{'s' * (fits != 1)}"
    return f"{counts} in {found.seconds:.1f} s: {found.method}"


def telling(trials: Sequence[Trial]) -> list[str]:
    """Return the parameters that are not the same in all of these trials; all, if none is."""
    names = list(dict.fromkeys(name for trial in trials for name in trial.params))
    differing = [name for name in names if len({repr(trial.params.get(name)) for trial in trials}) > 1]
    return differing or names


def trial_words(trial: Trial, names: Sequence[str]) -> str:
    """Return value, these parameters and what else there is to say, in one line of a screen."""
    value = "failed" if trial.value is None else f"{trial.value:.4f}"
    more = f" ({trial.status})" if trial.status != "complete" else ""
    params = {name: trial.params[name] for name in names if name in trial.params}
    text = f"{value}  {params_words(params)}{more}"
    return text if len(text) <= WIDTH else f"{text[: WIDTH - 1]}…"


def params_words(params: Mapping[str, Any]) -> str:
    """Return "name value" of every parameter.

    >>> params_words({"factors": 64, "regularization": 0.25})
    'factors 64, regularization 0.25'
    """
    return ", ".join(f"{name} {short(value)}" for name, value in params.items())


def short(value: Any) -> str:
    """Return a parameter's value: numbers to four figures."""
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _plain(value: Any) -> Any:
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)
