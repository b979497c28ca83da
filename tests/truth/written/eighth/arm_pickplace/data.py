from __future__ import annotations

import dataclasses

import numpy as np


@dataclasses.dataclass
class DemoStore:
    obs: np.ndarray
    act: np.ndarray

    @classmethod
    def synthetic(cls, demos: int, ticks: int, obs_dim: int, act_dim: int, seed: int = 0) -> "DemoStore":
        rng = np.random.default_rng(seed)
        obs = np.cumsum(rng.normal(size=(demos, ticks, obs_dim)), axis=1).astype(np.float32) * 0.1
        mix = rng.normal(size=(obs_dim, act_dim)).astype(np.float32)
        return cls(obs=obs, act=np.tanh(obs @ mix))

    @property
    def ticks(self) -> int:
        return self.obs.shape[1]


class ChunkSampler:
    """Draws (batch, chunk, ...) windows from the teleoperation log."""

    def __init__(self, store: DemoStore, batch: int, chunk: int, seed: int = 1):
        self.store = store
        self.batch = batch
        self.chunk = chunk
        self._rng = np.random.default_rng(seed)
        self.drawn = 0

    def __iter__(self):
        while True:
            yield self.draw()

    def draw(self) -> dict:
        demo = self._rng.integers(0, len(self.store.obs), size=self.batch)
        begin = self._rng.integers(0, self.store.ticks // 2, size=self.batch)
        ticks = begin[:, None] + np.arange(self.chunk)
        self.drawn += self.batch
        return {
            "obs": self.store.obs[demo[:, None], ticks],
            "act": self.store.act[demo[:, None], ticks],
        }
