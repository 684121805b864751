"""The papers' Wiki: links between pages of Simple English Wikipedia."""

from __future__ import annotations

from research.datasets.mediawiki import wiki_links
from research.papers import PU_2025
from taylorank.data.datasets import Counts, Dataset, File, Protocol

ADDRESS = "https://dumps.wikimedia.org/simplewiki/20250101"
FILES = [f"simplewiki-20250101-{table}.sql.gz" for table in ("pagelinks", "linktarget", "page")]

SIMPLEWIKI = Dataset(
    name="simplewiki",
    title="Links between pages of Simple English Wikipedia, January 2025",
    citation="Wikimedia database dump of Simple English Wikipedia, 1 January 2025",
    terms="Wikimedia terms for dumps: https://dumps.wikimedia.org/legal.html",
    homepage=f"{ADDRESS}/",
    files=tuple(File(name, f"{ADDRESS}/{name}") for name in FILES),
    loader=wiki_links(),
    protocols=(
        Protocol("raw", "every pair, uncleaned"),
        Protocol(
            "paper",
            "links between pages of every namespace; the 20-core",
            core=20,
            counts=Counts(129_404, 129_432, 13_715_724),
            counts_from=f"{PU_2025}, Table 5",
        ),
        Protocol(
            "articles",
            "links between articles (namespace 0) only; the 20-core",
            core=20,
            loader=wiki_links(namespace=0),
        ),
    ),
    notes="Wikimedia removes old dumps, so the address may be gone; the paper does not say which namespaces it kept, "
    "and neither reading has been checked here against its counts",
)
