"""The models of a server by name, and their replacement while it runs.

A file that was replaced is read, checked and made ready beside the model that answers; only then do they change places.
A file that cannot be used changes nothing but `refused`, which the health check shows.
"""

from __future__ import annotations

import ctypes
import gc
import logging
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from taylorank.errors import TaylorankError, in_one_line
from taylorank.models import load
from taylorank.serving.catalogue import Catalogue, ItemTable, read_items
from taylorank.serving.metrics import Metrics
from taylorank.serving.served import Served
from taylorank.serving.settings import Settings
from taylorank.serving.spelled import ids_in
from taylorank.serving.variants import variant_of

log = logging.getLogger("taylorank.serving")
Stamp = tuple[int, int, int] | None


def stamp_of(path: Path) -> Stamp:
    """Return what changes when a file is replaced or written; None if it is not there."""
    try:
        facts = path.stat()
    except OSError:
        return None
    return facts.st_mtime_ns, facts.st_size, facts.st_ino


class Shelf:
    """Holds the models that answer. `models` is replaced as a whole, so that a request sees one state."""

    def __init__(self, settings: Settings, metrics: Metrics) -> None:
        self.settings, self.metrics = settings, metrics
        self.files = {f"model {name}": path for name, path in settings.models.items()}
        self.files |= {"items": settings.items} if settings.items else {}
        self.files |= {"hidden items": settings.hide} if settings.hide else {}
        self.stamps = {what: stamp_of(path) for what, path in self.files.items()}
        self.refused: dict[str, str] = {}
        self.loaded_at: dict[str, float] = {}
        self.table: ItemTable | None = self._read_items()
        self.hidden = ids_in(settings.hide) if settings.hide else frozenset()
        self.models: dict[str, Served] = {}
        for name, path in settings.models.items():
            self._put(name, load(path))

    def _read_items(self) -> ItemTable | None:
        given = self.settings
        if given.items is None:
            return None
        return read_items(given.items, item_column=given.item_column, title_column=given.title_column)

    def _put(self, name: str, model: Any) -> None:
        catalogue = Catalogue(model.items) if self.table is None else self.table.for_items(model.items)
        if catalogue.unknown:
            log.warning("%s row(s) of the items file are of no item of model %s", f"{catalogue.unknown:,}", name)
        served = Served(name, model, catalogue, self.hidden).warm()
        self.models = {**self.models, name: served}
        self.loaded_at[name] = time.time()
        self.metrics.loaded.labels(name).set_to_current_time()

    @property
    def default(self) -> str:
        """The model of requests without user: the first."""
        return next(iter(self.settings.models))

    def choose(self, model: str | None, user: int | str | None) -> tuple[Served | None, str | None]:
        """Return the model of a request, None if there is none of that name, and the variant if a split chose it."""
        if model is not None:
            return self.models.get(model), None
        if user is None or len(self.models) == 1:
            return self.models[self.default], self.default
        name = variant_of(user, self.settings.weights, self.settings.experiment)
        return self.models[name], name

    def look(self) -> None:
        """Take in every file that has changed since the last look."""
        for what, path in self.files.items():
            stamp = stamp_of(path)
            if stamp != self.stamps[what]:
                self.stamps[what] = stamp
                self._replace(what, path)
                _return_memory()

    def _replace(self, what: str, path: Path) -> None:
        label = what.removeprefix("model ")
        try:
            self._take_in(what, path)
        except Exception as error:  # whatever a file does, the models that answer stay
            reason = in_one_line(error) if isinstance(error, TaylorankError) else type(error).__name__
            self.refused[what] = _without_paths(reason, path)
            self.metrics.reloads.labels(label, "refused").inc()
            log.error("%s was not taken in: %s", what, reason)
        else:
            self.refused.pop(what, None)
            self.metrics.reloads.labels(label, "taken").inc()
            log.warning("%s was replaced and is in use", what)

    def _take_in(self, what: str, path: Path) -> None:
        if what == "items":
            self.table = self._for_all(self._read_items())
        elif what == "hidden items":
            self.hidden = ids_in(path)
            self.models = {n: s.with_items(s.catalogue, self.hidden).warm() for n, s in self.models.items()}
        else:
            self._put(what.removeprefix("model "), _of_a_copy(load, path))

    def _for_all(self, table: ItemTable | None) -> ItemTable | None:
        """Give all models the titles and columns of another items file, or none of them."""
        assert table is not None
        self.models = {
            name: served.with_items(table.for_items(served.ranker.items), self.hidden).warm()
            for name, served in self.models.items()
        }
        return table


def _of_a_copy(read: Callable[[Path], Any], path: Path) -> Any:
    """Read a private copy: the file is mapped into memory, and one that is cut meanwhile would end the process."""
    with _copied(path) as copy:
        try:
            return read(copy)
        except TaylorankError as error:
            raise type(error)(error.cause.replace(str(copy), str(path)), error.remedy) from None


@contextmanager
def _copied(path: Path) -> Iterator[Path]:
    """Yield a copy, on Linux a file without a name, so that a kill leaves nothing behind."""
    nameless = Path("/proc/self/fd").is_dir()
    with tempfile.TemporaryFile() if nameless else tempfile.NamedTemporaryFile() as copy:
        try:
            with path.open("rb") as file:
                shutil.copyfileobj(file, copy, 1 << 20)
            copy.flush()
        except OSError as error:
            raise TaylorankError(f"{path} cannot be read ({error.strerror})", "put the file back") from None
        yield Path(f"/proc/self/fd/{copy.fileno()}" if nameless else copy.name)


def _return_memory() -> None:
    """Hand the memory of the model that was replaced back to the system, where the C library can."""
    gc.collect()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if sys.platform == "linux" else None
    if trim is not None:
        trim(0)


def _without_paths(reason: str, path: Path) -> str:
    return reason.replace(str(path), path.name)
