"""Compressed sparse rows as torch tensors."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import torch

from taylorank.data.csr import CSR
from taylorank.errors import ParameterError
from taylorank.kernels.cuda.schedule import Schedule, scheduled
from taylorank.kernels.reference import REMEDY


@dataclass(frozen=True, eq=False)
class DeviceRows:
    """Row x holds columns `indices[indptr[x]:indptr[x + 1]]` with `weights` (None: all 1), as in `CSR`.

    `indptr` is int64, `indices` int32 or int64, all on one device. What kernels work out about the rows, such as
    their order by length, is kept with them.

    >>> rows = DeviceRows(torch.tensor([0, 2, 2]), torch.tensor([0, 3], dtype=torch.int32), None, 4)
    >>> rows.n_rows, rows.n_columns, rows.nnz
    (2, 4, 2)
    """

    indptr: torch.Tensor
    indices: torch.Tensor
    weights: torch.Tensor | None
    n_columns: int
    schedules: dict[tuple[int, int, int], Schedule] = field(default_factory=dict, init=False, repr=False)

    @classmethod
    def from_csr(cls, rows: CSR, device: str | torch.device = "cuda") -> DeviceRows:
        """Copy rows to a device; weights become float32."""

        def moved(array: np.ndarray, dtype: type) -> torch.Tensor:
            plain = np.require(array, dtype=dtype, requirements=["C", "W"])
            return torch.from_numpy(plain).to(device)

        weights = None if rows.weights is None else moved(rows.weights, np.float32)
        index_type = np.int64 if rows.indices.dtype == np.int64 else np.int32
        return cls(moved(rows.indptr, np.int64), moved(rows.indices, index_type), weights, rows.n_columns)

    def to_csr(self) -> CSR:
        """Copy rows to host memory."""
        weights = None if self.weights is None else self.weights.cpu().numpy()
        return CSR(self.indptr.cpu().numpy(), self.indices.cpu().numpy(), weights, self.n_columns)

    def to(self, device: str | torch.device) -> DeviceRows:
        """Return the same rows on another device."""
        weights = None if self.weights is None else self.weights.to(device)
        return replace(self, indptr=self.indptr.to(device), indices=self.indices.to(device), weights=weights)

    def with_weights(self, weights: torch.Tensor | None) -> DeviceRows:
        """Return the same rows with other weights; what is known of the rows goes with them."""
        rows = replace(self, weights=weights)
        rows.schedules.update(self.schedules)
        if "_checked" in self.__dict__:
            rows.__dict__["_checked"] = True
        return rows

    def transpose(self) -> DeviceRows:
        """Return the same entries by column."""
        order = torch.sort(self.indices, stable=True).indices
        lengths = torch.bincount(self.indices, minlength=self.n_columns)
        indptr = torch.zeros(self.n_columns + 1, dtype=torch.int64, device=self.device)
        torch.cumsum(lengths, 0, out=indptr[1:])
        weights = None if self.weights is None else self.weights[order]
        return DeviceRows(indptr, self.row_of_entry().to(self.indices.dtype)[order], weights, self.n_rows)

    @property
    def device(self) -> torch.device:
        """Where the rows are."""
        return self.indices.device

    @property
    def n_rows(self) -> int:
        """How many rows there are, empty ones included."""
        return len(self.indptr) - 1

    @property
    def nnz(self) -> int:
        """How many entries are stored."""
        return len(self.indices)

    @property
    def row_lengths(self) -> torch.Tensor:
        """How many entries each row stores."""
        return torch.diff(self.indptr)

    def row_of_entry(self) -> torch.Tensor:
        """Return the row number of every entry, int64."""
        numbers = torch.arange(self.n_rows, device=self.device)
        return torch.repeat_interleave(numbers, self.row_lengths, output_size=self.nnz)

    def schedule(self, longest: int, first: int = 0, last: int | None = None) -> Schedule:
        """Return in which order and pieces of at most `longest` entries to sum the rows first, …, last − 1."""
        key = (longest, first, self.n_rows if last is None else last)
        if key not in self.schedules:
            self.schedules[key] = scheduled(self.indptr, longest=longest, first=key[1], last=key[2])
        return self.schedules[key]

    @cached_property
    def _checked(self) -> bool:
        indptr, indices = self.indptr, self.indices
        if indptr.dtype != torch.int64 or indices.dtype not in (torch.int32, torch.int64):
            raise ParameterError(f"the rows are {indptr.dtype} and {indices.dtype}", "make them int64 and int32")
        if indptr.ndim != 1 or indices.ndim != 1 or len(indptr) == 0:
            raise ParameterError(f"indptr and indices have shapes {indptr.shape}, {indices.shape}", REMEDY)
        if not (indptr.is_contiguous() and indices.is_contiguous()):
            raise ParameterError("the rows are not contiguous", "call .contiguous()")
        if int(indptr[0]) != 0 or int(indptr[-1]) != self.nnz:
            text = f"indptr goes from {int(indptr[0])} to {int(indptr[-1])} but there are {self.nnz} indices"
            raise ParameterError(text, REMEDY)
        if self.n_rows and int(self.row_lengths.min()) < 0:
            raise ParameterError(f"indptr falls after row {int(self.row_lengths.argmin())}", REMEDY)
        if self.nnz:
            least, most = (int(value) for value in torch.aminmax(indices))
            if least < 0 or most >= self.n_columns:
                bad = least if least < 0 else most
                raise ParameterError(f"index {bad} is outside the {self.n_columns} rows of factors", REMEDY)
        return True

    def check(self) -> None:
        """Raise unless `indptr` rises from 0 to nnz and each index is a column; looked at once."""
        self._checked  # noqa: B018


def as_tensor(values: Any) -> torch.Tensor:
    """Return a tensor of what may be one, an array or a number; an array that may not be written is copied."""
    return values if isinstance(values, torch.Tensor) else torch.as_tensor(np.require(values, requirements=["W"]))
