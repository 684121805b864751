"""`--space`: what tuning tries, as a shell writes it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Annotated, Any, get_type_hints

from cyclopts import Parameter

from taylorank.cli.options import comma_separated, takes_whole
from taylorank.errors import ParameterError
from taylorank.selection.contenders import Contender
from taylorank.selection.ranges import Choice, Int, Range
from taylorank.selection.spaces import check_space

FORM = "write NAME=64,128 or NAME=0.01..10:log"

SpaceOption = Annotated[
    list[str] | None,
    Parameter(
        help="What to try in place of the default: values (factors=64,128) or a range (regularization=0.01..10, with "
        ":log by its logarithm); can be repeated.",
        negative=(),
    ),
]
SpacesOption = Annotated[
    list[str] | None,
    Parameter(
        help="What to try for a model in place of the default: values (rg2.factors=64,128) or a range "
        "(ials.regularization=0.001..0.1, with :log by its logarithm); can be repeated.",
        negative=(),
    ),
]


def space_of(texts: Sequence[str], model: Any) -> dict[str, Range | Choice]:
    """Return the space that NAME=VALUES or NAME=LOW..HIGH[:log] state for a model.

    >>> from taylorank.models import EASE, ItemKNN
    >>> space_of(["regularization=1..1000:log"], EASE())
    {'regularization': Range(low=1.0, high=1000.0, log=True, integer=False)}
    >>> space_of(["neighbours=10..100", "shrink=0,50"], ItemKNN())
    {'neighbours': Int(low=10.0, high=100.0, log=False, integer=True), 'shrink': Choice(values=(0, 50))}
    """
    space: dict[str, Range | Choice] = {}
    for text in texts:
        name, equals, values = text.partition("=")
        name = name.strip().replace("-", "_")
        if not (name and equals):
            raise ParameterError(f"--space {text} has no values", FORM)
        if name in space:
            raise ParameterError(f"--space {name} is given twice", "put its values into one, separated by commas")
        space[name] = _part(values, text, kind=Int if _is_whole(model, name) else Range)
    check_space(space, model)
    return space


def spaces_of(texts: Sequence[str], entries: Sequence[Contender]) -> dict[str, dict[str, Range | Choice]]:
    """Return the space of every model that MODEL.NAME=… names."""
    by_model: dict[str, list[str]] = {}
    models = {one.name: one.estimator for one in entries}
    for text in texts:
        model, dot, _ = text.partition("=")[0].rpartition(".")
        if not dot or model not in models:
            raise ParameterError(
                f"--space {text} names no model of --models", f"write such as {next(iter(models))}.NAME=64,128"
            )
        by_model.setdefault(model, []).append(text[len(model) + 1 :])
    return {model: space_of(own, models[model]) for model, own in by_model.items()}


def _part(values: str, text: str, *, kind: type[Range]) -> Range | Choice:
    values, colon, scale = values.partition(":")
    low, dots, high = values.partition("..")
    if not dots and not colon:
        return Choice(tuple(_value(one) for one in comma_separated(values, f"--space {text}:")))
    try:
        ends = float(low), float(high)
    except ValueError:
        raise ParameterError(f"--space {text} is no range of numbers", FORM) from None
    if scale not in ("", "log") or (colon and not scale):
        raise ParameterError(f"--space {text}: {scale!r} is no scale", "write :log, or nothing")
    return kind(*ends, log=scale == "log")


def _value(text: str) -> Any:
    """Read a number, true, false or null; anything else is text."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def _is_whole(model: Any, name: str) -> bool:
    hints = get_type_hints(type(model).__init__)
    return name in hints and takes_whole(hints[name])
