"""`fit_best`: what it chooses, what it says, and how it keeps to its budget."""

from __future__ import annotations

import json
import re
import time
from dataclasses import replace

import numpy as np
import pytest
from toy_model import grouped

import taylorank as tr
from taylorank.errors import DataError, ParameterError
from taylorank.models.student_descent import Descent
from taylorank.selection import SPACES, Choice, best_search, best_tried, costs, hold_back

LONG = 600.0  # seconds that no test takes


@pytest.fixture(scope="module")
def data():
    return tr.planted(90, 40, interactions=1100, random_state=5)


def few_trials(patch):
    """Tests of the choice need no long search."""
    patch.setattr(best_search, "EASE_TRIALS", 2)
    patch.setattr(best_search, "STUDENT_TRIALS", 2)
    patch.setattr(best_search, "IALS_TRIALS", 3)
    patch.setattr("taylorank.models.student_plan.FEWEST_STEPS", 200)
    exponents = {"proposal_exponent": Choice((0.3, 0.6)), "context_exponent": Choice((1.0,))}
    patch.setattr(best_search, "SPACES", {**SPACES, "rg2": {**SPACES["rg2"], **exponents}})


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    few_trials(monkeypatch)


@pytest.fixture(scope="module")
def fitted(data):
    with pytest.MonkeyPatch.context() as patch:
        few_trials(patch)
        return tr.fit_best(data, seconds=LONG, quiet=True)


def test_the_best_on_validation_data_is_fitted_to_all_data(data, fitted):
    selection = fitted.selection_
    assert [one.name for one in selection.candidates] == ["Popularity", "RG2", "EASE", "IALS", "Distilled"]
    values = {one.name: (len(one.further), one.value + sum(one.further)) for one in selection.candidates}
    assert values[selection.chosen] == max(values.values())
    assert type(fitted).__name__ == selection.chosen
    assert selection.refitted
    assert fitted.seen == data
    chosen = fitted.get_params()
    assert {name: chosen[name] for name in selection.best.params} == selection.best.params


def test_every_value_is_that_of_a_fit_to_the_rest(data, fitted):
    held = hold_back(data)
    found = {one.name: one for one in fitted.selection_.candidates}
    teacher = tr.RG2(**found["RG2"].params, random_state=0).fit(held.train)
    again = {
        "Popularity": tr.Popularity().fit(held.train),
        "RG2": teacher,
        "EASE": tr.EASE(**found["EASE"].params).fit(held.train),
        "IALS": tr.IALS(**found["IALS"].params, random_state=0).fit(held.train),
        "Distilled": tr.Distilled(teacher, **found["Distilled"].params).fit(held.train),
    }
    for name, model in again.items():
        value = tr.evaluate(model, held.valid, metrics="ndcg@10")["ndcg@10"]
        assert found[name].value == pytest.approx(value, abs=0.02 if name == "Distilled" else 2e-3)
        low, high = found[name].interval
        assert low < found[name].mean < high


def test_it_says_what_it_did(data, capsys):
    model = tr.fit_best(data, seconds=LONG)
    shown = capsys.readouterr().out
    assert shown.startswith(
        "90 users × 40 items, 1,100 interactions, density 30.6 %, with times\nheld back: the last 10 %"
    )
    selection = model.selection_
    parts = 1 + len(selection.best.further)
    assert f"chosen: {selection.chosen}, with the highest ndcg@10 on average over {parts} parts held back" in shown
    mean = np.mean([selection.best.value, *selection.best.further])
    expected = f"{selection.metric} about {mean:.4f}, the mean of {parts} parts held back (95 % interval over "
    assert f"{expected}{selection.users} users" in shown
    assert f"slightly optimistic, as it is the best of {selection.settings:,} settings" in shown
    assert all(f"  {one.name}: " in shown for one in selection.candidates)
    assert "fitted to all data; " in shown
    assert json.loads(json.dumps(selection.to_dict()))["settings"] == selection.settings


def test_a_model_without_times_is_judged_on_a_random_part(data, capsys):
    timeless = replace(data, timestamps=None)
    model = tr.fit_best(timeless, seconds=LONG, metric="recall@5", quiet=True)
    assert capsys.readouterr().out == ""
    assert model.selection_.held_back.startswith("held back: a random 10 %")
    assert model.selection_.metric == "recall@5"


def test_what_is_asked_for_is_held_back(data, monkeypatch):
    _interrupted(monkeypatch, tr.RG2, 1)
    selection = tr.fit_best(data, seconds=LONG, hold_out="random", quiet=True).selection_
    assert selection.held_back.endswith("as asked for")


def test_the_same_seed_gives_the_same_model(data, fitted):
    again = tr.fit_best(data, seconds=LONG, quiet=True)
    assert [one.params for one in again.selection_.candidates] == [one.params for one in fitted.selection_.candidates]
    assert again.recommend(data.user_ids)[0].tolist() == fitted.recommend(data.user_ids)[0].tolist()


class Clock:
    """A clock that fits and steps advance, and nothing else but a little."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        self.now += 1e-6
        return self.now


@pytest.fixture
def clock(monkeypatch):
    """Rank 64 of RG² takes 2 s, EASE 5 s, a step of a student 0.04 s."""
    clock = Clock()
    for kind, seconds in ((tr.RG2, lambda model: model.factors / 32), (tr.EASE, lambda model: 5.0)):
        _slowed(monkeypatch, clock, kind, "fit", seconds)
    _slowed(monkeypatch, clock, Descent, "learn", lambda _: 0.04)
    monkeypatch.setattr(time, "perf_counter", clock)
    return clock


def _slowed(monkeypatch, clock, kind, name, seconds):
    original = getattr(kind, name)

    def slow(self, *args, **kwargs):
        clock.now += seconds(self)
        return original(self, *args, **kwargs)

    monkeypatch.setattr(kind, name, slow)


@pytest.mark.parametrize("seconds", [20.0, 60.0, 300.0])
def test_the_budget_is_kept(data, clock, seconds):
    selection = tr.fit_best(data, seconds=seconds, quiet=True).selection_
    assert selection.refitted
    assert selection.seconds == pytest.approx(clock.now, abs=0.01)
    assert selection.seconds <= 1.1 * seconds
    assert not any("overrun" in line for line in selection.lines())
    if seconds == 300.0:
        assert all(one.value is not None for one in selection.candidates)


def test_settings_are_searched_on_fewer_users_than_kinds_are_compared(data, monkeypatch):
    monkeypatch.setattr(best_tried, "FEWEST_JUDGED", 5)
    monkeypatch.setattr(best_tried, "CELLS_PER_SECOND", 40 * 60 / LONG)  # 60 users of 40 items
    monkeypatch.setattr(best_tried, "SEARCHED_CELLS", 40 * 20 / LONG)
    searched, tuned = [], best_tried.tune

    def spied(model, train, valid, **how):
        searched.append(set(np.flatnonzero(valid.by_user.row_lengths)))
        return tuned(model, train, valid, **how)

    monkeypatch.setattr(best_tried, "tune", spied)
    selection = tr.fit_best(data, seconds=LONG, quiet=True).selection_
    assert selection.users == 60
    assert {len(users) for users in searched} == {20}


def test_what_the_budget_does_not_pay_is_left_out_and_said(data, clock):
    selection = tr.fit_best(data, seconds=9.0, quiet=True).selection_
    notes = {one.name: one.note for one in selection.candidates}
    assert "as a fit takes about" in notes["Distilled"]
    assert "s are left" in notes["Distilled"]


def test_what_is_left_goes_to_settings_near_the_best(data, monkeypatch):
    """EASE is made the best; each search of it is near the best of those before, and only replaces a worse one."""
    tuned, spaces = best_tried.tune, []

    def spied(model, *args, **how):
        found = tuned(model, *args, **how)
        if isinstance(model, tr.EASE):
            spaces.append((how["space"], found.best, found.value, len(found.trials)))
        return found

    monkeypatch.setattr(best_tried, "tune", spied)
    monkeypatch.setattr(best_tried.Found, "value", property(lambda one: one.candidate.value + _lift(one)))
    ease = tr.fit_best(data, seconds=LONG, quiet=True).selection_.best
    assert len(spaces) == 3  # its own share, the rest of that, and what the student left
    best = spaces[0]
    for nearer in spaces[1:]:
        part = nearer[0]["regularization"]
        assert part.low <= best[1]["regularization"] <= part.high < 30 * part.low
        best = nearer if nearer[2] > best[2] else best
    assert ease.params == best[1]
    assert ease.settings == sum(tried for *_, tried in spaces)


def test_what_is_left_goes_to_a_larger_rank(clock, monkeypatch):
    """Rank 64 is all that the share of RG² pays, and does not tell 200 groups apart."""
    monkeypatch.setattr(best_search, "RG_SHARE", 0.08)
    monkeypatch.setattr(costs, "product_rate", lambda: 1.0)  # no EASE
    monkeypatch.setattr(best_search, "FEWEST_TAUGHT", 10**6)  # no student
    monkeypatch.setattr(best_search, "IALS_SHARE", 0.0)  # and no iALS
    selection = tr.fit_best(grouped(600, 2400, groups=200), seconds=40.0, quiet=True).selection_
    best = selection.best
    assert best.name == "RG2"
    assert best.params["factors"] >= 128
    assert selection.refitted
    assert selection.seconds <= 1.1 * 40


def _lift(one):
    return 1.0 if one.candidate.name == "EASE" else 0.0


def test_what_is_left_goes_to_other_exponents(clock, monkeypatch):
    """Rank 64 is all there is of RG², and its share pays two pairs of exponents."""
    monkeypatch.setattr(best_search, "RG_SHARE", 0.08)
    monkeypatch.setattr(best_search, "ranks_in_memory", lambda data: (64,))
    monkeypatch.setattr(best_search, "SPACES", SPACES)
    monkeypatch.setattr(costs, "product_rate", lambda: 1.0)
    monkeypatch.setattr(best_search, "FEWEST_TAUGHT", 10**6)
    monkeypatch.setattr(best_search, "IALS_SHARE", 0.0)
    fits, tuned = [], best_tried.tune

    def spied(*args, **how):
        found = tuned(*args, **how)
        fits.append({(trial.params["proposal_exponent"], trial.params["context_exponent"]) for trial in found.trials})
        return found

    monkeypatch.setattr(best_tried, "tune", spied)
    selection = tr.fit_best(grouped(600, 2400, groups=200), seconds=40.0, quiet=True).selection_
    assert len(fits) == 2
    assert len(fits[1]) >= best_search.FEWEST_PAIRS
    assert len(fits[1]) > len(fits[0])
    assert selection.seconds <= 1.1 * 40


def test_a_model_far_behind_is_given_up(data, monkeypatch):
    monkeypatch.setattr(best_search, "IALS_TRIALS", 20)
    monkeypatch.setattr(best_tried, "HOPELESS", 9.0)
    selection = tr.fit_best(data, seconds=LONG, quiet=True).selection_
    assert next(one for one in selection.candidates if one.name == "IALS").settings == best_tried.PATIENCE


def test_ials_is_left_out_where_its_fits_are_long(data, monkeypatch):
    monkeypatch.setattr(best_search, "ials_seconds", lambda *_: 30.0)
    selection = tr.fit_best(data, seconds=LONG, quiet=True).selection_
    assert any("IALS: not tried, as one fit takes about 30.0 s" in line for line in selection.lines())


def test_equals_are_judged_on_further_parts(data, fitted):
    """Each value is that of the same setting, fitted to what came before an earlier part."""
    tried = [one for one in fitted.selection_.candidates if one.further]
    assert len(tried) >= 2
    assert fitted.selection_.chosen in [one.name for one in tried]
    earlier = hold_back(hold_back(data).train)
    rg2 = next(one for one in tried if one.name == "RG2")
    model = tr.RG2(**rg2.params, random_state=0).fit(earlier.train)
    assert rg2.further[0] == pytest.approx(tr.evaluate(model, earlier.valid, metrics="ndcg@10")["ndcg@10"], abs=2e-3)
    low, high = fitted.selection_.lead[1]
    assert low <= fitted.selection_.lead[0] <= high


def test_an_interruption_on_a_further_part_leaves_no_model_ahead_of_its_time(data, monkeypatch):
    looked, seen = best_tried.Tried._looked_at, []

    def second(self, one, held):
        seen.append(one)
        if len(seen) == 2:
            raise KeyboardInterrupt
        return looked(self, one, held)

    monkeypatch.setattr(best_tried.Tried, "_looked_at", second)
    selection = tr.fit_best(data, seconds=LONG, quiet=True).selection_
    assert selection.status == "interrupted"
    assert not any(one.further for one in selection.candidates)


def test_an_overrun_is_said(data, clock):
    selection = tr.fit_best(data, seconds=0.5, quiet=True).selection_
    assert selection.overrun > 0.5
    assert any(line.startswith(f"the budget was overrun by {selection.overrun:.1f} s") for line in selection.lines())


def _interrupted(monkeypatch, kind, at):
    original, calls = kind.fit, []

    def fit(self, *args, **kwargs):
        calls.append(self)
        if len(calls) == at:
            raise KeyboardInterrupt
        return original(self, *args, **kwargs)

    monkeypatch.setattr(kind, "fit", fit)


@pytest.mark.parametrize(("kind", "at"), [(tr.RG2, 1), (tr.RG2, 2), (tr.EASE, 1), (tr.EASE, 2), (tr.Distilled, 2)])
def test_an_interruption_returns_the_best_so_far(data, monkeypatch, kind, at):
    _interrupted(monkeypatch, kind, at)
    model = tr.fit_best(data, seconds=LONG, quiet=True)
    selection = model.selection_
    assert selection.status == "interrupted"
    assert not selection.refitted
    assert model.seen == data
    assert selection.best.value == max(one.value for one in selection.candidates)
    assert ("RG2" in [one.name for one in selection.candidates]) == (kind is not tr.RG2 or at > 1)
    assert "interrupted: the best so far is returned" in selection.lines()


def test_an_interrupted_last_fit_returns_the_model_that_was_judged(data, monkeypatch):
    def refitted(self, chosen, data):
        raise KeyboardInterrupt

    monkeypatch.setattr(best_search.BestSearch, "refitted", refitted)
    model = tr.fit_best(data, seconds=LONG, quiet=True)
    assert len(model.selection_.candidates) == 5
    assert model.selection_.status == "interrupted"
    assert model.seen == data
    assert not np.isin(model.recommend([3], n=5)[0], data.items_of(3)).any()


def test_without_time_for_the_last_fit_all_that_users_have_is_folded_in(data, monkeypatch):
    monkeypatch.setattr(best_tried, "GRACE", -9.0)
    model = tr.fit_best(data, seconds=LONG, quiet=True)
    held, found = hold_back(data), model.selection_.best
    assert not model.selection_.refitted
    assert any("all that users have folded in" in line for line in model.selection_.lines())
    assert found.name == "RG2"
    again = tr.RG2(**found.params).fit(held.train).fold_in(data)
    lists = again.recommend(data.user_ids)[0], model.recommend(data.user_ids)[0]
    assert np.mean(lists[0] == lists[1]) > 0.9


def test_a_student_keeps_its_vectors_and_hides_all_that_users_have(data):
    held = hold_back(data)
    student = tr.RG2(16).fit(held.train).distil(8, steps=50)
    other = student.with_seen(data)
    assert other.seen == data
    assert np.array_equal(other.user_factors, student.user_factors)
    lists = other.recommend(data.user_ids, n=5)[0]
    assert not any(np.isin(row, data.items_of(user)).any() for user, row in zip(data.user_ids, lists, strict=True))


def test_an_interruption_before_there_is_anything_is_one(data, monkeypatch):
    _interrupted(monkeypatch, tr.Popularity, 1)
    with pytest.raises(KeyboardInterrupt):
        tr.fit_best(data, seconds=LONG, quiet=True)


def test_ease_is_left_out_where_memory_or_time_do_not_allow_it(data, monkeypatch):
    _interrupted(monkeypatch, tr.Distilled, 1)
    monkeypatch.setattr("taylorank.models.ease.available_memory", lambda: 1000)
    selection = tr.fit_best(data, seconds=LONG, quiet=True).selection_
    ease = next(one for one in selection.candidates if one.name == "EASE")
    assert ease.value is None
    assert "GiB" in ease.note
    assert selection.chosen != "EASE"
    monkeypatch.setattr(costs, "product_rate", lambda: 1.0)
    selection = tr.fit_best(data, seconds=LONG, quiet=True).selection_
    assert any("EASE: not tried, as one fit to 40 items takes about" in line for line in selection.lines())


def test_a_few_users_are_enough(capsys):
    tiny = tr.Interactions.from_arrays([1, 1, 1, 2, 2, 2, 3, 3, 3], list("abcbcdabd"))
    model = tr.fit_best(tiny, seconds=LONG)
    assert model.recommend([1], n=1)[0].tolist() == [["d"]]
    assert "Distilled: not tried, as 3 users are too few to teach it" in capsys.readouterr().out


def test_nothing_to_hold_back_is_said(capsys):
    model = tr.fit_best(tr.Interactions.from_arrays([1, 2, 3], list("abc")), seconds=LONG)
    assert isinstance(model, tr.RG2)
    assert model.selection_.best.value is None
    shown = capsys.readouterr().out
    assert "held back: nothing, as no user has more than one item" in shown
    assert "what it is worth on new data is unknown" in shown


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ({"seconds": 0}, "seconds=0 is not a time"),
        ({"seconds": "long"}, "seconds='long' is not a number"),
        ({"metric": "ndcg"}, "has no cutoff"),
        ({"metric": "fame@10"}, "no metric is called"),
        ({"hold_out": "first"}, "hold_out='first' is unknown"),
        ({"device": "abacus"}, "device='abacus' is unknown"),
    ],
)
def test_bad_arguments_are_refused(data, how, words):
    with pytest.raises(ParameterError, match=words):
        tr.fit_best(data, quiet=True, **how)


def test_empty_data_is_refused(data):
    with pytest.raises(DataError, match="no interactions"):
        tr.fit_best(data.select(data.timestamps < 0, "nothing"), quiet=True)


def test_progress_is_shown_on_a_terminal_only(data, monkeypatch, capsys):
    tr.fit_best(data, seconds=LONG)
    assert capsys.readouterr().err == ""
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    monkeypatch.setattr("taylorank.progress.MOMENT", 0.0)
    monkeypatch.setattr("taylorank.progress.REFRESH", 0.0)
    tr.fit_best(data, seconds=LONG)
    shown = capsys.readouterr().err
    assert re.search(rf"RG2: .* \({LONG:g} s allowed\): ", shown)
    assert " to all data" in shown
    tr.fit_best(data, seconds=LONG, quiet=True)
    assert capsys.readouterr() == ("", "")
