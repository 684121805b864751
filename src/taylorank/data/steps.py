"""The record of what was done to data."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Step:
    """What was done to the data, and what was left afterwards."""

    action: str
    users: int
    items: int
    interactions: int

    def __str__(self) -> str:
        return f"{self.action} → {self.users:,} users × {self.items:,} items, {self.interactions:,} interactions"
