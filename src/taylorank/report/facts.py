"""Facts as pairs of name and value: the data, the method, the machine."""

from __future__ import annotations

from typing import Any

from taylorank.report.numbers import and_list, any_value, metric_label, seconds
from taylorank.report.record import Record
from taylorank.report.words import label

Facts = list[tuple[str, str]]


def data_facts(record: Record) -> Facts:
    """Return sizes and spreads of the data."""
    data = record["data"]
    facts = [
        (name, any_value(data[name.lower()])) for name in ("Users", "Items", "Interactions") if name.lower() in data
    ]
    if "density" in data:
        facts.append(("Density", f"{100 * data['density']:.3g} %"))
    for key, name in (("per_user", "Interactions per user"), ("per_item", "Interactions per item")):
        if key in data:
            facts.append((name, _spread(data[key])))
    if "gini" in data:
        facts.append(("Inequality of popularity (Gini)", f"{data['gini']:.3f}"))
        facts.append(("Share of the most popular 1 % of items", f"{100 * data['top_share']:.1f} %"))
    if data.get("first"):
        facts.append(("From, to", f"{moment(data['first'])} to {moment(data['last'])}"))
    return facts


def cleaning_steps(record: Record) -> list[str]:
    """Return what was done to the data, and what was left each time."""
    return [
        f"{step['action']} → {step['users']:,} users × {step['items']:,} items, {step['interactions']:,} interactions"
        for step in record["data"].get("steps", [])
    ]


def method_facts(record: Record) -> Facts:
    """Return how the comparison was made."""
    settings, summary = record["settings"], record["summary"]
    seeds = settings.get("seeds", [])
    facts = [("Protocol", f"{record['protocol']['name']}: {record['protocol']['says']}")]
    if seeds:
        facts.append(("Seeds", f"{', '.join(map(str, seeds))}: each has its own split, tuning, fit and test"))
    facts.append(("Tuning budget", budget_words(record)))
    if summary.get("users"):
        facts.append(("Tested on", f"{summary['users']:,} users"))
    facts.append(("Chosen and ranked by", metric_label(settings["primary"])))
    return facts


def budget_words(record: Record) -> str:
    """Return the budget of tuning in words; it is the same for all."""
    budget = record.get("budget") or {}
    untuned = [label(record, name) for name, facts in record["models"].items() if not facts.get("space")]
    parts = []
    if budget.get("trials"):
        parts.append(f"{budget['trials']:,} fits")
    if budget.get("seconds"):
        parts.append(seconds(float(budget["seconds"])))
    if not parts:
        return str(budget.get("says", "none: every model has the parameters it came with"))
    allowed = f"{' and at most '.join(parts)} for every model on every seed"
    if not untuned:
        return allowed
    return f"{allowed}; {and_list(untuned)} {'has' if len(untuned) == 1 else 'have'} nothing to tune"


def machine_facts(record: Record) -> Facts:
    """Return processor, versions, kernels and the commit of the library."""
    machine = dict(record.get("machine") or {})
    names = {"cpu": "Processor", "cores": "Cores", "memory_gib": "Memory (GiB)", "load_average": "Load at the start"}
    names |= {"system": "System", "python": "Python", "kernels": "Kernels", "stolen_cpu_share": "CPU taken by others"}
    facts = [(name, any_value(machine[key])) for key, name in names.items() if machine.get(key) is not None]
    if machine.get("libraries"):
        facts.append(("Libraries", any_value(machine["libraries"])))
    if record.get("commit"):
        facts.append(("Commit of taylorank", record["commit"]))
    return facts


def moment(text: str) -> str:
    """Return a moment for people: a date and time, or a number that is no date with separators.

    >>> moment("2003-02-28T17:49:50"), moment("3.15357e+07"), moment("day 3")
    ('2003-02-28 17:49:50', '31,535,700', 'day 3')
    """
    try:
        return f"{float(text):,.0f}"
    except ValueError:
        return text.replace("T", " ") if text[:4].isdigit() else text


def advice(record: Record) -> list[str]:
    """Return what tuning advises, each once, with the model it is about."""
    lines = [
        f"{label(record, run['model'])}: {line}"
        for run in record["runs"]
        for line in (run.get("tuning") or {}).get("advice", [])
    ]
    return list(dict.fromkeys(lines))


def _spread(spread: dict[str, Any]) -> str:
    return ", ".join(f"{name} {any_value(spread[name])}" for name in ("min", "median", "mean", "max"))
