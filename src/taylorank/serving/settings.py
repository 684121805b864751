"""What a server is started with."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from taylorank.errors import ParameterError
from taylorank.output import path_of

MIB = 1 << 20


@dataclass(frozen=True)
class Settings:
    """Models by name and their weights in the split of users; files beside them; limits. Picklable, for workers."""

    models: dict[str, Path]
    weights: dict[str, float]  # of each model; they need not sum to 1
    items: Path | None = None
    item_column: str | None = None
    title_column: str | None = None
    hide: Path | None = None  # ids that are never recommended, one per line
    experiment: str = ""  # changes who gets which variant
    api_key: str | None = None
    allowed_hosts: tuple[str, ...] = ()  # names in the Host header; () for any
    cors_origins: tuple[str, ...] = ()
    max_body: int = 8 * MIB
    max_in_flight: int = 1_000
    timeout: float = 10.0  # seconds for a body to arrive, and for a request to wait in the queue
    poll: float = 1.0  # seconds between two looks at the files; 0: only on SIGHUP
    num_threads: int | None = None


def models_by_name(given: list[str]) -> dict[str, Path]:
    """Return {name: path} of "name=path" or "path"; a path alone is named by its file.

    >>> models_by_name(["new=a/rg2.tr", "b/ials.tr"])
    {'new': PosixPath('a/rg2.tr'), 'ials': PosixPath('b/ials.tr')}
    """
    found: dict[str, Path] = {}
    for text in given:
        name, equals, path = text.partition("=")
        if not equals or path_of(text).exists():
            name, path = Path(text).stem, text
        if not name or not path:
            raise ParameterError(f"{text!r} names no model", "write a path, or name=path")
        if name in found:
            raise ParameterError(f"two models are named {name!r}", "name them: first=a.tr second=b.tr")
        found[name] = path_of(path)
    return found


def split_weights(text: str | None, names: list[str]) -> dict[str, float]:
    """Return the weight of each model; without a split the first one gets all.

    >>> split_weights("a=90,b=10", ["a", "b", "c"]), split_weights(None, ["a", "b"])
    ({'a': 90.0, 'b': 10.0, 'c': 0.0}, {'a': 1.0, 'b': 0.0})
    """
    weights = dict.fromkeys(names, 0.0)
    if text is None:
        weights[names[0]] = 1.0
        return weights
    for part in text.split(","):
        name, _, share = part.strip().partition("=")
        try:
            weight = float(share)
        except ValueError:
            weight = -1.0
        if name not in weights or not 0 <= weight < float("inf"):
            raise ParameterError(f"--split {text!r}: cannot use {part.strip()!r}", f"write {names[0]}=90,… with models")
        weights[name] = weight
    if not sum(weights.values()) > 0:
        raise ParameterError(f"--split {text!r} gives nobody a model", "give one a weight above 0")
    return weights
