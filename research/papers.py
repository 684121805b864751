"""The papers whose statements and tables are tested here: one entry each, cited by authors and year.

>>> f"{PU_2025}, Eq. 31"
'Pu et al. 2025, Eq. 31'
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Paper:
    """`short` is how a text cites it, `full` the whole reference, `about` what it is to the library."""

    short: str
    full: str
    about: str

    def __str__(self) -> str:
        return self.short


PU_2025 = Paper(
    "Pu et al. 2025",
    "Y. Pu, D. Lian, X. Chen, X. Huang, J. Chen, E. Chen. NDCG-consistent softmax approximation with accelerated "
    "convergence. arXiv:2506.09454, 2025",
    "RG² and RG×",
)
PU_2024 = Paper(
    "Pu et al. 2024",
    "Y. Pu, X. Chen, X. Huang, J. Chen, D. Lian, E. Chen. Learning-efficient yet generalizable collaborative filtering "
    "for item recommendation. ICML 2024",
    "its predecessor, with RG² alone",
)
SUMMARY_2025 = Paper(
    "summary of Pu et al. 2025",
    "a short summary of Pu et al. 2025, with first experiments, open questions and next checks",
    "what it says beyond the paper is tested as its own",
)
SUMMARY_2026 = Paper(
    "summary of Pu, Lian and Chen 2026",
    "a short summary of Y. Pu, D. Lian, E. Chen. Is softmax loss all you need? A principled analysis of softmax-family "
    "loss. arXiv:2601.22745, 2026",
    "the softmax family; the statements tested are those of the summary, not of the paper",
)
PAPERS = (PU_2025, PU_2024, SUMMARY_2025, SUMMARY_2026)


def is_cited(paper: Paper, source: str) -> bool:
    """Return whether a source cites the paper itself; that of a summary does not cite what it is a summary of.

    >>> [str(paper) for paper in PAPERS if is_cited(paper, f"{SUMMARY_2025}, Key results; {PU_2024}, Eq. 4")]
    ['Pu et al. 2024', 'summary of Pu et al. 2025']
    """
    return any(cited.strip().startswith(paper.short) for cited in source.split(";"))


def references() -> str:
    """Return the list of all of them, as a page shows it."""
    return "\n".join(f"- **{paper}**: {paper.full} ({paper.about})." for paper in PAPERS)
