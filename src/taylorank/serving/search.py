"""Search of items by title or id: prefixes first, then words, then anything that contains the text.

Titles stand in one text, a line each, the most popular first, so that the first hits are the ones wanted and a search
ends there.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray


def folded(text: str) -> str:
    """Return text without case and accents, blanks joined.

    >>> folded(" Amélie  POULAIN ß")
    'amelie poulain ss'
    """
    if text.isascii():
        return " ".join(text.lower().split())
    plain = unicodedata.normalize("NFKD", text.casefold())
    return " ".join("".join(letter for letter in plain if not unicodedata.combining(letter)).split())


class Lines:
    """Folded texts, a line each, that can be searched."""

    def __init__(self, texts: list[str]) -> None:
        self.text = "\n" + "".join(f"{text}\n" for text in texts)
        lengths = np.fromiter((len(text) + 1 for text in texts), dtype=np.int64, count=len(texts))
        self.starts = 1 + np.concatenate(([0], np.cumsum(lengths)[:-1])) if texts else np.empty(0, dtype=np.int64)

    def containing(self, part: str) -> Iterator[int]:
        """Yield the numbers of the lines that contain `part`, ascending; a line end before it means at the start."""
        place = self.text.find(part)
        while place >= 0:
            first_letter = place + len(part) - len(part.lstrip("\n"))
            line = int(np.searchsorted(self.starts, first_letter, side="right")) - 1
            yield line
            if line + 1 >= len(self.starts):
                return
            place = self.text.find(part, int(self.starts[line + 1]) - 1)


class SearchIndex:
    """Finds items by title or id.

    >>> index = SearchIndex([7, 70, 8], ["The Piano", "Pianist", "Amélie"], np.array([1.0, 3.0, 2.0]))
    >>> index.find("pian", 3).tolist(), index.find("7", 3).tolist(), index.find("amel", 3).tolist()
    ([1, 0], [0, 1], [2])
    """

    def __init__(self, ids: list[object], titles: list[str], popularity: NDArray[np.float64]) -> None:
        self.order: NDArray[np.int64] = np.argsort(-popularity, kind="stable")
        chosen = self.order.tolist()
        self.titles = Lines([folded(titles[item]) for item in chosen])
        self.ids = Lines([folded(str(ids[item])) for item in chosen])

    def find(self, text: str, n: int) -> NDArray[np.int64]:
        """Return positions of at most n items, in the order: the id itself, prefixes, words, the rest."""
        wanted = folded(text)
        if not wanted:
            return self.order[:n]
        found: dict[int, None] = {}
        places = (
            (self.ids, f"\n{wanted}\n"),
            (self.titles, f"\n{wanted}\n"),
            (self.titles, f"\n{wanted}"),
            (self.ids, f"\n{wanted}"),
            (self.titles, f" {wanted}"),
            (self.titles, wanted),
            (self.ids, wanted),
        )
        for lines, part in places:
            for line in lines.containing(part):
                found[line] = None
                if len(found) >= n:
                    break
            if len(found) >= n:
                break
        return self.order[list(found)]
