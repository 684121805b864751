"""Where the pages and the records of this checkout are; nothing else in research knows its own place."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Places:
    """The folders of a checkout at `root`."""

    root: Path

    @property
    def docs(self) -> Path:
        """Pages and pictures."""
        return self.root / "docs"

    @property
    def records(self) -> Path:
        """What benchmarks, claims and studies wrote, a folder for each kind."""
        return self.root / "research" / "records"

    @property
    def comparisons(self) -> Path:
        """Records of comparisons of models."""
        return self.records / "comparisons"

    def name(self, file: Path) -> str:
        """Return a file's path as commands in the checkout name it."""
        return file.relative_to(self.root).as_posix()

    def link(self, file: Path) -> str:
        """Return a link from a page to a file.

        >>> Places(Path("/repo")).link(Path("/repo/research/records/bench/als.json"))
        '[research/records/bench/als.json](../research/records/bench/als.json)'
        """
        target = Path(os.path.relpath(file, self.docs)).as_posix()
        return f"[{self.name(file)}]({target})"


HERE = Places(Path(__file__).resolve().parents[1])
