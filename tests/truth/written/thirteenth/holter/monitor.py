import collections

import numpy as np

from signals import align, detect, hrv


class HolterMonitor:
    def __init__(self, fs=100, half=18, noise=0.05, report_every=3):
        self.fs, self.half = fs, half
        self.noise = np.float32(noise)
        self.level = 0.35
        self.template = np.exp(-(np.linspace(-3, 3, 2 * half)) ** 2).astype(np.float32)
        self.rr = []
        self.report_every = report_every
        self.log = collections.deque(maxlen=50)
        self.seen = 0

    def push(self, seg):
        marks, self.level = detect(seg, self.level, self.noise)
        peaks = np.flatnonzero(np.asarray(marks))
        self.rr.extend(np.diff(peaks) / self.fs)
        beats = np.stack([seg[p - self.half:p + self.half] for p in peaks if self.half <= p < len(seg) - self.half])
        self.template, quality = align(self.template, beats)
        self.noise = np.float32(0.5 * self.noise + 0.5 * 0.1 * np.abs(seg).mean())
        self.seen += 1
        self.log.append((len(beats), float(quality), float(self.level)))
        return self.log[-1]

    def report(self):
        if self.seen % self.report_every:
            return None
        stats = hrv(np.asarray(self.rr, np.float32))
        return {k: round(float(v), 3) for k, v in stats.items()}
