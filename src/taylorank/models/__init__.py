"""What users fit."""

from taylorank.models.popularity import Popularity

__all__ = ["Popularity"]
