"""Weights of the entries of a matrix: tf-idf, BM25, and rows of length 1."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse


def tfidf_weight(X: Any) -> Any:
    """√x · (log n_rows − log(1 + entries of the column)), as a COO matrix."""
    weighted = sparse.coo_matrix(X, copy=True)
    weighted.data = np.sqrt(weighted.data) * _rarity(weighted)[weighted.col]
    return weighted


def bm25_weight(X: Any, K1: float = 100, B: float = 0.8) -> Any:
    """x (K₁ + 1) / (K₁ (1 − B + B · sum of the row / mean sum) + x) · rarity of the column, as a COO matrix."""
    weighted = sparse.coo_matrix(X, copy=True)
    lengths = np.ravel(weighted.sum(axis=1))
    norm = 1 - B + B * lengths / lengths.mean()
    saturated = weighted.data * (K1 + 1) / (K1 * norm[weighted.row] + weighted.data)
    weighted.data = saturated * _rarity(weighted)[weighted.col]
    return weighted


def normalize(X: Any) -> Any:
    """Rows of length 1, as a COO matrix; empty rows stay empty."""
    scaled = sparse.coo_matrix(X, copy=True)
    lengths = np.sqrt(np.bincount(scaled.row, scaled.data.astype(np.float64) ** 2, minlength=scaled.shape[0]))
    scaled.data = scaled.data / np.where(lengths > 0, lengths, 1)[scaled.row]
    return scaled


def _rarity(matrix: Any) -> Any:
    """log n_rows − log(1 + entries) of every column."""
    return np.log(matrix.shape[0]) - np.log1p(np.bincount(matrix.col, minlength=matrix.shape[1]))
