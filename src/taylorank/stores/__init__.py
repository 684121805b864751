"""Exports to vector stores: faiss, usearch, pgvector, Qdrant, Parquet, with measured recall."""

from taylorank.stores.exported import Exported
from taylorank.stores.exporting import export
from taylorank.stores.kinds import KINDS

__all__ = ["KINDS", "Exported", "export"]
