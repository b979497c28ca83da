import collections

import numpy as np

from signals import align, detect, hrv


class HolterMonitor:
    def __init__(self, fs=100, half=18, noise=0.05, report_every=3, most_beats=16, ledger=512):
        self.fs, self.half = fs, half
        self.noise = np.float32(noise)
        self.level = np.float32(0.35)
        self.template = np.exp(-(np.linspace(-3, 3, 2 * half)) ** 2).astype(np.float32)
        self.rr = np.zeros(ledger, np.float32)
        self.rr_n = 0
        self.most_beats = most_beats
        self.report_every = report_every
        self.log = collections.deque(maxlen=50)
        self.seen = 0

    def push(self, seg):
        marks, self.level = detect(seg, self.level, self.noise)
        peaks = np.flatnonzero(np.asarray(marks))
        gaps = np.diff(peaks) / self.fs
        self.rr[self.rr_n:self.rr_n + len(gaps)] = gaps
        self.rr_n += len(gaps)
        inner = [p for p in peaks if self.half <= p < len(seg) - self.half][:self.most_beats]
        beats = np.zeros((self.most_beats, 2 * self.half), np.float32)
        for row, p in enumerate(inner):
            beats[row] = seg[p - self.half:p + self.half]
        live = np.arange(self.most_beats) < len(inner)
        self.template, quality = align(self.template, beats, live)
        self.noise = np.float32(0.5 * self.noise + 0.5 * 0.1 * np.abs(seg).mean())
        self.seen += 1
        self.log.append((len(inner), float(quality), float(self.level)))
        return self.log[-1]

    def report(self):
        if self.seen % self.report_every:
            return None
        stats = hrv(self.rr, np.int32(self.rr_n))
        return {k: round(float(v), 3) for k, v in stats.items()}
