"""Options as they were spelled before: accepted for one release, with a warning that says what to write."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

# In these commands --protocol meant how data are cleaned; now it means how they are split, in every command.
CLEANING_WAS_PROTOCOL = (
    ("train",),
    ("tune",),
    ("evaluate",),
    ("diagnose",),
    ("datasets", "get"),
    ("datasets", "stats"),
)
JSON_WAS_A_FLAG = (("recommend",), ("datasets", "list"), ("datasets", "stats"))


def respelled(tokens: Sequence[str]) -> list[str]:
    """Return the words of a command line as they are spelled now.

    >>> respelled(["compare", "ml-1m", "--protocol", "papers"])
    ['compare', 'ml-1m', '--protocol', 'papers']
    """
    words = list(tokens)
    if _is_one_of(words, CLEANING_WAS_PROTOCOL):
        words = [_without_protocol(word) for word in words]
    if _is_one_of(words, JSON_WAS_A_FLAG):
        words = [_with_path(word, after) for word, after in zip(words, [*words[1:], None], strict=True)]
    return words


def _is_one_of(words: list[str], commands: Sequence[tuple[str, ...]]) -> bool:
    return any(tuple(words[: len(command)]) == command for command in commands)


def _without_protocol(word: str) -> str:
    option, equals, value = word.partition("=")
    if option != "--protocol":
        return word
    _warn("--protocol is deprecated here", "--cleaning")
    return f"--cleaning{equals}{value}"


def _with_path(word: str, after: str | None) -> str:
    if word != "--json" or (after is not None and (after == "-" or not after.startswith("-"))):
        return word
    _warn("--json without a file is deprecated", "--json -")
    return "--json=-"


def _warn(what: str, instead: str) -> None:
    warnings.warn(f"{what}; write {instead}", FutureWarning, stacklevel=2)
