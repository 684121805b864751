"""Errors that say what is wrong and what to do about it.

Every error a user can cause is a `TaylorankError`. Its text is one line: the cause, then the remedy.
The command line prints that line and exits with code 2.
"""

from __future__ import annotations

import sys
import warnings
from functools import cache

LONGEST = 800  # characters of a cause or of a remedy; values and file names can be of any length


def shortened(text: str) -> str:
    r"""Return text in one line of what can be printed, without its middle if it is long.

    >>> shortened("a\nb\0"), len(shortened("x" * 10_000))
    ('a b\\x00', 800)
    """
    text = _without_middle(text)
    if text.isprintable():
        return text
    shown = (c if c.isprintable() else " " if c.isspace() else c.encode("unicode_escape").decode() for c in text)
    return _without_middle("".join(shown))


def _without_middle(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 200]} … {text[-197:]}"


class TaylorankError(Exception):
    """An error that a user can correct. `str(error)` is one line: cause, then remedy."""

    def __init__(self, cause: str, remedy: str = "") -> None:
        self.cause = shortened(cause)
        self.remedy = shortened(remedy)
        super().__init__(f"{self.cause}; {self.remedy}" if remedy else self.cause)

    def __reduce__(self) -> tuple[type[TaylorankError], tuple[str, str]]:
        return type(self), (self.cause, self.remedy)


class DataError(TaylorankError, ValueError):
    """The data is missing, malformed, or leaves nothing to work with."""


class ParameterError(TaylorankError, ValueError):
    """An argument is outside its range, or does not fit the data."""


class UnknownIdError(TaylorankError, KeyError):
    """A user or an item that the data does not contain."""

    def __str__(self) -> str:  # KeyError would print the repr
        return f"{self.cause}; {self.remedy}" if self.remedy else self.cause


class NotFittedError(TaylorankError, AttributeError):
    """A model was used before `fit`. Where scikit-learn is in use, it is also of scikit-learn's class of this name."""

    def __new__(cls, *args: str) -> NotFittedError:
        """Return an error of the class that those who catch it know."""
        return super().__new__(_known_to_sklearn() if cls is NotFittedError else cls, *args)


@cache
def _joined(theirs: type[Exception]) -> type[NotFittedError]:
    return type("NotFittedError", (NotFittedError, theirs), {"__module__": __name__, "__reduce__": _plain_not_fitted})


def _plain_not_fitted(self: NotFittedError) -> tuple[type[NotFittedError], tuple[str, str]]:
    return NotFittedError, (self.cause, self.remedy)


def _known_to_sklearn() -> type[NotFittedError]:
    theirs = sys.modules.get("sklearn.exceptions")
    return NotFittedError if theirs is None else _joined(theirs.NotFittedError)


class MissingMethodError(TaylorankError, AttributeError):
    """A method that this kind of model does not have."""


class TrainingError(TaylorankError, ArithmeticError):
    """Training diverged: the loss is no longer a number."""


class MemoryLimitError(TaylorankError, MemoryError):
    """A limit of memory leaves too little for what is asked."""


class MissingExtraError(TaylorankError, ImportError):
    """A part of the library needs a package that is not installed."""


class DataWarning(UserWarning):
    """The data can be used, but a careful person would look at it first."""


class LeakageWarning(DataWarning):
    """Training data and test data overlap, in pairs or in time."""


class TrainingWarning(UserWarning):
    """Training continues, but not quite with the parameters given."""


def shown(value: object) -> str:
    """Return `repr(value)`, also of an integer that Python refuses to write in decimal.

    >>> shown("a"), shown(10**5000)
    ("'a'", 'an integer of 16610 bits')
    """
    try:
        return repr(value)
    except ValueError:
        return f"an integer of {value.bit_length()} bits" if isinstance(value, int) else type(value).__name__


def in_one_line(error: BaseException) -> str:
    """Return what an error says, and its kind if it is none of the above.

    >>> in_one_line(RuntimeError("out of luck")), in_one_line(DataError("no rows", "give some"))
    ('RuntimeError: out of luck', 'no rows; give some')
    """
    text = shortened(" ".join(str(error).split()))
    return text if isinstance(error, TaylorankError) else f"{type(error).__name__}: {text}".rstrip(": ")


def warn_caller(message: str, category: type[Warning]) -> None:
    """Warn at the line outside the library that made the call."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == __package__:
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)
