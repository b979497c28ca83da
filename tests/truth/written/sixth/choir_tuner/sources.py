"""Pitch tracks from the hall's two recorders, as dictionaries of tensors."""
from dataclasses import dataclass
from typing import Iterator

import numpy as np
import torch


@dataclass(frozen=True)
class Take:
    name: str
    voice: int          # 0 soprano .. 3 bass
    recorder: str       # "zoom" or "desk"
    marked: bool        # the conductor listened to it
    frames: int = 48


def _walk(rng, n):
    return np.cumsum(rng.normal(0.0, 0.04, n)) + rng.normal(0.0, 0.1)


def read_zoom(rng, take):
    track = _walk(rng, take.frames).astype("f4")
    return torch.from_numpy(track) * 100.0


def read_desk(rng, take):
    # the desk writes text; its parser hands back a list of numbers
    track = [float(f"{v:.4f}") for v in _walk(rng, take.frames)]
    cents = 100.0 * np.asarray(track)
    return torch.from_numpy(cents)


READERS = {"zoom": read_zoom, "desk": read_desk}


def programme() -> list:
    takes = []
    for i in range(18):
        recorder = "desk" if i in (5, 9, 16) else "zoom"
        takes.append(Take(f"take{i:02d}", voice=i % 4, recorder=recorder, marked=i in (3, 12)))
    return takes


def stream(takes, seed=11) -> Iterator[dict]:
    rng = np.random.default_rng(seed)
    for take in takes:
        read = READERS[take.recorder]
        item = {"cents": read(rng, take), "voice": torch.tensor(take.voice)}
        if take.marked:
            item["confidence"] = torch.from_numpy(rng.uniform(0.4, 1.0, take.frames).astype(np.float32))
        yield take, item
