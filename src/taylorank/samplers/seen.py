"""Which pairs are positives, and draws that leave them out."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from taylorank.data import CSR
from taylorank.errors import ParameterError

SPREAD = -7046029254386353131  # 2⁶⁴/φ as a signed word: Fibonacci hashing
CUDA_ROUNDS = 3  # every one draws for all
TABLE_LIMIT = 30  # bits: the filter takes at most 1 GiB


class Seen:
    """The set of pairs (user, item) of a CSR matrix, as sorted keys user·N + item behind a hashed filter.

    The filter holds 8 to 16 cells per pair, so about one draw in ten that is no positive passes it: nearly all of
    them are settled by one random read, and only the rest by binary search.
    """

    def __init__(self, positives: CSR, n_items: int, device: torch.device) -> None:
        if positives.n_columns != n_items:
            raise ParameterError(
                f"positives have {positives.n_columns} columns and there are {n_items} items",
                "give the interactions over the same items",
            )
        self.n_items = n_items
        keys = positives.row_of_entry().astype(np.int64) * n_items + positives.indices
        self._keys = torch.from_numpy(keys).to(device)  # (nnz,) ascending, as rows and columns are
        self._bits = min(max(10, (8 * positives.nnz).bit_length()), TABLE_LIMIT)
        self._filter = torch.zeros(1 << self._bits, dtype=torch.bool, device=device)
        self._filter[self._cells(self._keys)] = True

    def contains(self, users: Tensor, columns: Tensor) -> Tensor:
        """Return whether each pair is in the set; users and columns broadcast."""
        keys = users * self.n_items + columns
        if keys.is_cuda:  # searching for all is quicker than waiting to know which pass the filter
            at = torch.searchsorted(self._keys, keys).clamp_(max=len(self._keys) - 1)
            return self._keys[at] == keys
        flat = keys.reshape(-1)
        found = self._filter.index_select(0, self._cells(flat))
        suspects = found.nonzero().squeeze(1)
        if len(suspects):
            wanted = flat.index_select(0, suspects)
            at = torch.searchsorted(self._keys, wanted).clamp_(max=len(self._keys) - 1)
            found[suspects] = self._keys.index_select(0, at) == wanted
        return found.view(keys.shape)

    def _cells(self, keys: Tensor) -> Tensor:
        """Return the cell of each key: the top bits of its product with a large odd word."""
        return (keys * SPREAD).bitwise_right_shift_(64 - self._bits).bitwise_and_((1 << self._bits) - 1)


def draw_unseen(
    propose: Callable[[tuple[int, ...]], Tensor], shape: tuple[int, int], *, seen: Seen, users: Tensor, rounds: int
) -> tuple[Tensor, Tensor]:
    """Return (P, n) draws and the mask of those that are still positives of their user after `rounds` redraws.

    A draw that is a positive of the user is drawn again. The number of rounds is fixed, so that a user with
    all items cannot hold up a batch.
    """
    columns = propose(shape)
    mask = seen.contains(users[:, None], columns)
    if columns.is_cuda:  # draw all again rather than wait to know how many
        for _ in range(min(rounds, CUDA_ROUNDS)):
            columns = torch.where(mask, propose(shape), columns)
            mask = seen.contains(users[:, None], columns)
        return columns, mask
    flat, flat_mask = columns.view(-1), mask.view(-1)
    for _ in range(rounds):
        again = flat_mask.nonzero().squeeze(1)
        if not len(again):
            break
        fresh = propose((len(again),))
        flat[again] = fresh
        flat_mask[again] = seen.contains(users.index_select(0, again // shape[1]), fresh)
    return columns, mask
