"""`fit_best`: one line from data to a good model, within some seconds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from taylorank.checks import typed
from taylorank.data import Interactions
from taylorank.errors import ParameterError
from taylorank.metrics import choosing_metric
from taylorank.models import RG2
from taylorank.models.histories import training_data
from taylorank.models.recommender import Recommender
from taylorank.progress import Narrator, Show, narrated
from taylorank.selection.best_search import BestSearch
from taylorank.selection.best_tried import SHARE
from taylorank.selection.hold_out import HeldBack, HoldOut, hold_back
from taylorank.selection.selected import Candidate, Selection
from taylorank.selection.study import Budget
from taylorank.torch_extra import uses_cuda

NOTHING_HELD = "held back: nothing, as no user has more than one item"


@typed
def fit_best(
    data: Any,
    *,
    seconds: float = 60.0,
    metric: str = "ndcg@10",
    hold_out: HoldOut | None = None,
    random_state: int = 0,
    device: Literal["auto", "cpu", "cuda"] = "auto",
    quiet: bool = False,
    progress: Show = None,
) -> Recommender:
    """Return the model with the highest `metric` on validation data of those that `seconds` allow, fitted to all data.

    A tenth of each user's interactions is held back, and on it are judged the popular items, RG² at every rank,
    threshold and exponent that time and memory allow, EASE where its inverse can be paid, iALS where a fit is short,
    and a small `Distilled` student of the best RG². Where the best are too close to tell apart, they are judged on
    further parts of the data. The best is fitted to all data. `model.selection_` has the record: what was tried,
    what was not and why, and what to expect of the model on new data.

    Parameters
    ----------
    data
        `Interactions`, or anything that `read_interactions` reads.
    seconds
        For everything after reading, the last fit included. A fit that has begun ends; an overrun of more than 10 %
        is said.
    metric
        With a cutoff: "ndcg@10", "recall@20", …
    hold_out
        "last", "random" or "blocks" (`hold_back`); by default the last items of each user where times or an order are
        known, else random ones.
    random_state
        Seed of everything. The same seed gives the same model as far as the same settings can be tried in time.
    quiet
        Print nothing. Else what was chosen and why is printed, and on a terminal the progress.
    progress
        Where to show how far it is (`taylorank.progress`): by default on a terminal, if not `quiet`.

    Ctrl-C ends the search, and the best model so far is returned: fitted to what was not held back, and with all that
    users have folded in, as where no time is left for the last fit.

    >>> from taylorank.data import planted
    >>> model = fit_best(planted(100, 50, interactions=1500), seconds=2, quiet=True)
    >>> model.recommend([0], n=3)[0].shape, model.selection_.refitted
    ((1, 3), True)
    """
    interactions = training_data(data)
    wanted = str(choosing_metric(metric))
    uses_cuda(device)
    budget = Budget(None, _checked(seconds))
    with narrated("choosing", False if quiet and progress is None else progress) as narrator:
        terminal = Terminal(narrator, budget, quiet=quiet)
        terminal.say(_facts(interactions))
        return _chosen(interactions, wanted, terminal, hold_out=hold_out, random_state=random_state, device=device)


def _chosen(
    interactions: Interactions,
    wanted: str,
    terminal: Terminal,
    *,
    hold_out: HoldOut | None,
    random_state: int,
    device: Literal["auto", "cpu", "cuda"],
) -> Recommender:
    """Hold some data back, and choose by them."""
    budget = terminal.budget
    held = hold_back(interactions, SHARE, hold_out=hold_out, random_state=random_state)
    if not held.valid.nnz:
        return _without_choice(interactions, wanted, budget, terminal, random_state=random_state, device=device)
    terminal.say(held.line)
    search = BestSearch(
        held,
        metric=wanted,
        budget=budget,
        random_state=random_state,
        device=device,
        progress=terminal.progress,
    )
    return _searched(search, interactions, held, terminal)


def _checked(seconds: Any) -> float:
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not 0 < seconds < float("inf"):
        raise ParameterError(f"seconds={seconds!r} is not a time", "give a number > 0, such as 60")
    return float(seconds)


def _searched(search: BestSearch, data: Interactions, held: HeldBack, terminal: Terminal) -> Recommender:
    """Search and fit the best to all data; on Ctrl-C return the best until then."""
    status: Literal["complete", "interrupted"] = "interrupted"
    model = None
    try:
        search.run()
        assert search.best is not None
        model = search.refitted(search.best, data)
        status = "complete"
    except KeyboardInterrupt:
        if search.best is None:
            raise
    best = search.best
    assert best is not None
    refitted = model is not None
    model = model or search.completed(best, data)
    selection = Selection(
        data=_facts(data),
        held_back=held.line,
        metric=search.metric,
        users=search.users,
        candidates=[*(one.candidate for one in search.found), *search.skipped],
        chosen=best.candidate.name,
        lead=search.lead(),
        refitted=refitted,
        status=status,
        seconds=round(search.budget.spent, 3),
        budget=search.budget.seconds or 0.0,
    )
    return _told(model, selection, terminal)


def _without_choice(data: Interactions, metric: str, budget: Budget, terminal: Terminal, **how: Any) -> Recommender:
    """Fit RG² with its own values: there is nothing to choose by."""
    model = RG2(**how).fit(data)
    only = Candidate("RG2", {"factors": model.rank}, settings=1, note="its own values, as nothing could be judged")
    selection = Selection(
        data=_facts(data),
        held_back=NOTHING_HELD,
        metric=metric,
        users=0,
        candidates=[only],
        chosen="RG2",
        lead=None,
        refitted=True,
        status="complete",
        seconds=round(budget.spent, 3),
        budget=budget.seconds or 0.0,
    )
    terminal.say(NOTHING_HELD)
    return _told(model, selection, terminal)


def _told(model: Recommender, selection: Selection, terminal: Terminal) -> Recommender:
    """Attach the record to the model and print it."""
    vars(model)["selection_"] = selection
    for line in selection.lines()[1:]:
        terminal.say(line)
    return model


def _facts(data: Interactions) -> str:
    times = "with" if data.timestamps is not None else "without"
    return (
        f"{data.n_users:,} users × {data.n_items:,} items, {data.nnz:,} interactions, "
        f"density {100 * data.density:.3g} %, {times} times"
    )


@dataclass
class Terminal:
    """Prints lines, and on a terminal what is being done, in one line that the next one replaces."""

    narrator: Narrator
    budget: Budget
    quiet: bool = False

    def say(self, line: str) -> None:
        """Print a line."""
        if not self.quiet:
            self.narrator.clear()
            print(line, flush=True)

    def progress(self, what: str) -> None:
        """Show what is being done and the time that is allowed."""
        self.narrator.what = f"{what} ({self.budget.seconds:g} s allowed)"
        self.narrator.report()
