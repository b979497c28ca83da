import numpy as np


class Songbook:
    tempi = (90.0, 90.0, 120.0, 150.0)

    def __init__(self, sr=4000, seed=0):
        self.sr = sr
        self.rng = np.random.default_rng(seed)

    def _render(self, base, secs=2.0):
        t = np.arange(int(self.sr * secs)) / self.sr
        vibrato = 1 + 0.01 * np.sin(2 * np.pi * 5 * t)
        voice = np.sin(2 * np.pi * base * vibrato * t)
        band = 0.6 * np.sign(np.sin(2 * np.pi * 110 * t)) + 0.1 * self.rng.normal(size=t.size)
        return voice, band

    def _frames(self, x, bpm):
        hop = int(round(self.sr * 60 / bpm / 8))
        spec = np.stack([np.abs(np.fft.rfft(x[i:i + 128])) for i in range(0, len(x) - 128, hop)])
        return np.log1p(spec).astype(np.float32)

    def tracks(self, n):
        for _ in range(n):
            bpm = float(self.rng.choice(self.tempi))
            voice, band = self._render(self.rng.uniform(200, 500))
            yield {
                "title": f"take@{bpm:.0f}",
                "mix": self._frames(voice + band, bpm),
                "voice": self._frames(voice, bpm),
            }
