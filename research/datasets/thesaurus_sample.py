r"""The sample of the Moby Thesaurus that comes with taylorank: words that people know, and what belongs to them.

    python -m research.datasets moby-thesaurus.parquet moby-thesaurus-words.parquet \
        --common english-words.10 --common english-words.20 --wider english-words.35

Both sides are single words in lower case. Kept are the words of the `common` lists, those of the `wider` list that many
roots have as a term, and of these the k-core: every root and every term has at least so many of the others. The lists
are SCOWL's (Debian package `scowl`, /usr/share/dict/scowl); they choose words, nothing of them is kept beside that.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import numpy as np
import polars as pl
from cyclopts import App, Parameter

from taylorank.data import Interactions, read_interactions
from taylorank.data.datasets.places import PACKAGED
from taylorank.data.datasets.word_pairs import pack_pairs
from taylorank.output import atomic_path

WORD = "^[a-z]{3,}$"
# A demonstration proposes words unasked, so words that insult or embarrass are left out. The entries of some list other
# words in that sense alone ("queen"): where a root has one of those, it loses what the entry lists.
SENSES = "homosexual lesbian slut whore".split()
LEFT_OUT = [
    *SENSES,
    *"ass bastard bitch bugger chink cock coon copulate crap cripple deviant dyke fag faggot genocide gypsy".split(),
    *"harlot homo hussy idiot imbecile moron negro pansy pervert perverted prick prostitute queer rape rapist".split(),
    *"retard sissy slattern tramp wench".split(),
]

app = App(
    name="python -m research.datasets",
    help="Make the sample of the Moby Thesaurus that comes with the package.\n\n"
    "Example: python -m research.datasets moby-thesaurus.parquet moby-thesaurus-words.parquet",
    help_format="plaintext",
    version_flags=(),
    suppress_keyboard_interrupt=False,
)


@app.default
def thesaurus_sample(
    pairs: Annotated[Path, Parameter(help="Parquet with `user` and `item`, numbers of words.")],
    words: Annotated[Path, Parameter(help="Parquet with `id` and `word`.")],
    /,
    *,
    common: Annotated[list[Path], Parameter(help="List of words to keep, one a line; can be repeated.")],
    wider: Annotated[list[Path], Parameter(help="List of words to keep if they are terms of many roots.")],
    roots: Annotated[int, Parameter(help="How many roots are many.")] = 100,
    core: Annotated[int, Parameter(help="Each root has so many terms, and each term so many roots.")] = 10,
    out: Annotated[Path, Parameter(help="File to write.")] = PACKAGED / "thesaurus.npz",
) -> None:
    """Choose the words and write the sample."""
    frame = without_senses(_pairs_of_words(pairs, words))
    counts = frame.group_by("term").len()
    frequent = set(counts.filter(pl.col("len") >= roots)["term"])
    chosen = (_lines(common) | (_lines(wider) & frequent)) - set(LEFT_OUT)
    kept = pl.Series(sorted(chosen)).implode()
    frame = frame.filter(pl.col("root").is_in(kept) & pl.col("term").is_in(kept))
    data = read_interactions(frame, user="root", item="term").core(core)
    write(in_order(data), out)
    print(f"{data!r}\nwritten: {out}, {out.stat().st_size:,} bytes")


def in_order(data: Interactions) -> Interactions:
    """Return the same pairs with roots and terms in alphabetical order."""
    order = np.argsort(data.user_ids), np.argsort(data.item_ids)
    matrix = data.matrix[order[0]][:, order[1]].tocoo()
    users, items = data.user_ids[order[0]], data.item_ids[order[1]]
    return Interactions.from_arrays(users[matrix.row], items[matrix.col])


def write(data: Interactions, out: Path) -> None:
    """Write the sample; the same pairs give the same bytes."""
    with atomic_path(out) as temporary, temporary.open("wb") as file:
        np.savez_compressed(file, allow_pickle=False, **pack_pairs(data))


def without_senses(frame: pl.DataFrame) -> pl.DataFrame:
    """Return the pairs less those that a root has for the sense of one of SENSES."""
    for word in SENSES:
        roots, terms = (
            frame.filter(pl.col(one) == word)[other].implode() for one, other in (("term", "root"), ("root", "term"))
        )
        frame = frame.filter(~(pl.col("root").is_in(roots) & pl.col("term").is_in(terms)))
    return frame


def _pairs_of_words(pairs: Path, words: Path) -> pl.DataFrame:
    """Return root and term of every pair of two different single words."""
    names = pl.read_parquet(words).filter(pl.col("word").str.contains(WORD))
    return (
        pl.read_parquet(pairs)
        .join(names.rename({"id": "user", "word": "root"}), on="user")
        .join(names.rename({"id": "item", "word": "term"}), on="item")
        .filter(pl.col("root") != pl.col("term"))
        .select("root", "term")
    )


def _lines(files: list[Path]) -> set[str]:
    return {word for file in files for word in file.read_text("latin-1").split()}
