"""What the command line says of an error: one line, in the words of commands and options."""

from __future__ import annotations

import re
from dataclasses import fields

from cyclopts import CycloptsError, MissingArgumentError

from taylorank.cli.options import FileOptions
from taylorank.errors import TaylorankError, shortened

_NAMES = "|".join(one.name for one in fields(FileOptions))
_KEYWORD = re.compile(rf"""\b({_NAMES})=(\([^)]*\)|"[^"]*"|'[^']*'|…)""")


def failure_text(error: TaylorankError | CycloptsError, program: str) -> str:
    """Return the cause and the remedy; what reading calls `user=…` is `--user …` here."""
    if isinstance(error, TaylorankError):
        return f"{error.cause}; {with_options(error.remedy)}" if error.remedy else error.cause
    text = shortened(" ".join(str(error).split()))
    if not isinstance(error, MissingArgumentError) or error.argument is None or error.keyword or "Did you mean" in text:
        return text
    command = " ".join((program, *(error.command_chain or ())))
    return f"{command} needs {error.argument.name}; {command} --help has an example"


def with_options(remedy: str) -> str:
    r"""Return a remedy with options in place of the keywords of `read_interactions`.

    >>> with_options("say which: user=…, or columns=('user', 'item'); min_rating=…")
    'say which: --user …, or --columns user,item; --min-rating …'
    >>> with_options('pass quote="" or ids="text"')
    'pass --quote "" or --ids text'
    """
    return _KEYWORD.sub(_option, remedy)


def _option(found: re.Match[str]) -> str:
    name, value = found[1].replace("_", "-"), found[2]
    if value.startswith("("):
        value = ",".join(re.findall(r"'([^']*)'", value))
    return f"--{name} {value.strip(chr(34) + chr(39)) or chr(34) * 2}"
