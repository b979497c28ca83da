"""Stet's Python side: batches that keep a contract (docs/batches.md)."""

from .batch import Canonical, Leaf, canonical, from_contract

__all__ = ["Canonical", "Leaf", "canonical", "from_contract"]
