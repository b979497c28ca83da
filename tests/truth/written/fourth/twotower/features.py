"""Turn raw impression rows into model inputs.

Every extractor registers itself under the name of the model input it produces and may return
``None`` if the traffic source does not carry it.
"""
from __future__ import annotations

from typing import Callable, Iterator

import numpy as np
import torch

from settings import SETTINGS

EXTRACTORS: dict[str, Callable] = {}


def extractor(name: str):
    def wrap(fn):
        EXTRACTORS[name] = fn
        return fn
    return wrap


@extractor("user")
def _user(rows):
    return torch.as_tensor(rows["user"])


@extractor("item")
def _item(rows):
    return torch.as_tensor(rows["item"])


@extractor("dwell")
def _dwell(rows):
    # only the mobile client reports dwell time
    if rows["source"] != "app":
        return None
    return torch.as_tensor(rows["dwell"])


def build_batch(rows) -> dict[str, torch.Tensor]:
    made = {name: fn(rows) for name, fn in EXTRACTORS.items()}
    return {k: v for k, v in made.items() if v is not None}


def chunk_history(events: np.ndarray) -> list[torch.Tensor]:
    """Split a session history into chunks of ``bucket`` events."""
    size = SETTINGS["history"]["bucket"]
    events = events[:, : SETTINGS["history"]["max_events"]]
    return [torch.as_tensor(np.ascontiguousarray(events[:, lo:lo + size]))
            for lo in range(0, events.shape[1], size)]


class ImpressionLog:
    """Iterates over synthetic impression rows, one mini-batch each."""

    def __init__(self, cfg=SETTINGS):
        self.cfg = cfg
        self.rng = np.random.default_rng(cfg["train"]["seed"])

    def _source(self, step: int) -> str:
        t = self.cfg["traffic"]
        return "app" if step >= t["app_from_step"] and step % 3 == 0 else "web"

    def _session_len(self, step: int) -> int:
        return 10 if step < 16 else int(self.rng.choice([10, 15, 20]))

    def __iter__(self) -> Iterator[tuple[dict, list]]:
        b, cat = self.cfg["train"]["batch"], self.cfg["catalogue"]
        for step in range(self.cfg["train"]["steps"]):
            rows = {
                "source": self._source(step),
                "user": self.rng.integers(0, cat["users"], b),
                "item": self.rng.integers(0, cat["items"], b),
                "dwell": self.rng.exponential(1.0, b).astype(np.float32),
            }
            seen = self.rng.integers(1, cat["items"], (b, self._session_len(step)))
            yield build_batch(rows), chunk_history(seen)
