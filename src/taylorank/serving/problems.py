"""Answers to requests that cannot be served: a status, a cause, a remedy."""

from __future__ import annotations

from typing import Any

from pydantic import ValidationError

from taylorank.errors import TaylorankError, UnknownIdError
from taylorank.serving.schema import Problem

REFUSALS: dict[int | str, dict[str, Any]] = {code: {"model": Problem} for code in (400, 401, 404, 408, 413, 422, 503)}
LONGEST = 500  # characters of a text that repeats what was sent


class Refused(Exception):
    """A request that is answered with a status of 400 or more."""

    def __init__(self, status: int, error: str, remedy: str, *, headers: dict[str, str] | None = None) -> None:
        super().__init__(error)
        self.status, self.error, self.remedy, self.headers = status, error, remedy, headers or {}

    def document(self) -> dict[str, str]:
        """Return what is sent."""
        return {"error": printable(self.error), "remedy": printable(self.remedy)}


def printable(text: str) -> str:
    r"""Return text that any JSON writer takes, not too long.

    >>> printable("a\ud800b")
    'a\\ud800b'
    """
    plain = text.encode("utf-8", "backslashreplace").decode()
    return plain if len(plain) <= LONGEST else plain[: LONGEST - 1] + "…"


def of_library(error: TaylorankError) -> Refused:
    """Return the answer for what the library refuses."""
    return Refused(404 if isinstance(error, UnknownIdError) else 422, error.cause, error.remedy)


def unforeseen() -> Refused:
    """Return the answer for a fault of the server, which its log describes."""
    return Refused(500, "something went wrong here", "look into the log of the server")


def of_validation(error: ValidationError) -> Refused:
    """Return the answer for a body that does not have the form of a request."""
    first: Any = error.errors(include_url=False, include_context=False, include_input=False)[0]
    if first["type"] == "json_invalid":
        return Refused(400, f"the body is not JSON ({first['msg']})", "send a JSON object, or a list of them")
    place = ".".join(str(part) for part in first["loc"]) or "the body"
    more = f" (and {error.error_count() - 1} more)" if error.error_count() > 1 else ""
    return Refused(422, f"{place}: {first['msg']}{more}", "see /openapi.json for the form of a request")
