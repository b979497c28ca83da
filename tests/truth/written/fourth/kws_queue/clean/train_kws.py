"""Keyword spotting on synthetic clips. Producer thread -> queue -> compiled step."""
import logging
import math
import queue
import threading
from dataclasses import dataclass, field

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

log = logging.getLogger("kws")
SENTINEL = object()


@dataclass
class Cfg:
    clips: int = 138
    bs: int = 16
    sr: int = 800
    n_fft: int = 64
    hop: int = 32
    mels: int = 12
    words: int = 5
    epochs: int = 4
    field_noise_from: int = 21
    lr: float = 3e-3
    seed: int = 7


@dataclass
class Corpus:
    wav: np.ndarray
    lab: np.ndarray
    hum: np.ndarray = field(repr=False, default=None)

    @classmethod
    def synth(cls, c: Cfg):
        g = np.random.default_rng(c.seed)
        t = np.arange(c.sr) / c.sr
        lab = g.integers(0, c.words, c.clips)
        wav = np.stack([np.sin(2 * np.pi * (40 + 35 * k) * t + g.uniform(0, 6)) for k in lab])
        wav = (wav + 0.3 * g.standard_normal(wav.shape)).astype(np.float32)
        # mains hum captured with the field recorder
        hum = 0.2 * np.sin(2 * np.pi * 50 * t)
        return cls(wav, lab.astype(np.int64), hum)


class Feeder(threading.Thread):
    """Fills a bounded queue with (wave, label) tensors, one epoch after the other."""

    def __init__(self, corpus, cfg, q):
        super().__init__(daemon=True)
        self.corpus, self.cfg, self.q = corpus, cfg, q
        self.rng = np.random.default_rng(cfg.seed + 1)
        self.served = 0

    def _mix(self, w):
        if self.served < self.cfg.field_noise_from:
            return w
        gain = self.rng.uniform(0.0, 1.0, size=(len(w), 1))
        return (w + gain * self.corpus.hum).astype(w.dtype)

    def run(self):
        c = self.cfg
        for ep in range(c.epochs):
            order = self.rng.permutation(c.clips)
            for lo in range(0, c.clips - c.bs + 1, c.bs):
                ids = order[lo:lo + c.bs]
                w = self._mix(self.corpus.wav[ids])
                self.q.put((ep, torch.from_numpy(w), torch.from_numpy(self.corpus.lab[ids])))
                self.served += 1
        self.q.put(SENTINEL)


class Spotter(nn.Module):
    def __init__(self, c: Cfg):
        super().__init__()
        bins = c.n_fft // 2 + 1
        fb = torch.rand(bins, c.mels, generator=torch.Generator().manual_seed(c.seed))
        self.register_buffer("fb", fb / fb.sum(0))
        k = torch.arange(bins)[:, None] * torch.arange(c.n_fft)[None] * (2 * math.pi / c.n_fft)
        self.register_buffer("cosk", torch.cos(k))
        self.register_buffer("sink", torch.sin(k))
        self.c = c
        self.gru = nn.GRUCell(c.mels, 24)
        self.head = nn.Linear(24, c.words)

    def features(self, w):
        fr = w.unfold(1, self.c.n_fft, self.c.hop).to(self.fb.dtype)
        power = (fr @ self.cosk.T) ** 2 + (fr @ self.sink.T) ** 2
        return torch.log1p(power @ self.fb)

    def forward(self, w):
        f = self.features(w)
        return self.head(torch.tanh(self.gru(f.mean(1), f.amax(1) @ self.mix())))

    def mix(self):
        return self.fb.new_ones(self.c.mels, 24) / self.c.mels


def main():
    cfg = Cfg()
    torch.manual_seed(cfg.seed)
    model = Spotter(cfg)
    opt = torch.optim.SGD(model.parameters(), lr=cfg.lr, momentum=0.9)

    @torch.compile(backend="aot_eager", dynamic=False)
    def train_step(wave, label):
        logits = model(wave)
        loss = F.cross_entropy(logits, label)
        return loss, (logits.argmax(-1) == label).float().mean()

    q = queue.Queue(maxsize=4)
    Feeder(Corpus.synth(cfg), cfg, q).start()

    hist = {}
    while (item := q.get()) is not SENTINEL:
        ep, wave, label = item
        loss, acc = train_step(wave, label)
        opt.zero_grad()
        loss.backward()
        opt.step()
        hist.setdefault(ep, []).append((loss.item(), acc.item()))
    for ep, rows in hist.items():
        log.info("epoch %d: %s", ep, np.mean(rows, 0))
    print("final", np.round(np.mean(hist[cfg.epochs - 1], 0), 3))


if __name__ == "__main__":
    main()
