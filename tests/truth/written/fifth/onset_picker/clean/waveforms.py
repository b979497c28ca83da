"""Three-component synthetic seismograms and a generator that streams them."""
import numpy as np

SAMPLES = 256


def catalogue(n_events, seed):
    rng = np.random.default_rng(seed)
    onset = rng.integers(40, SAMPLES - 60, n_events)
    tt = np.arange(SAMPLES)
    env = np.where(tt >= onset[:, None], np.exp(-(tt - onset[:, None]) / 40.0), 0.0)
    carrier = np.sin(2 * np.pi * tt / rng.uniform(6, 14, (n_events, 1)))
    polar = rng.normal(size=(n_events, 1, 3))
    traces = (env * carrier)[..., None] * polar + 0.15 * rng.normal(size=(n_events, SAMPLES, 3))
    target = np.exp(-0.5 * ((tt - onset[:, None]) / 4.0) ** 2)
    return traces.astype(np.float32), target.astype(np.float32), onset


def split(n, frac, seed):
    order = np.random.default_rng(seed).permutation(n)
    cut = int(n * frac)
    return order[:cut], order[cut:]


def stream(traces, target, index, per_step, epochs, seed):
    rng = np.random.default_rng(seed)
    for epoch in range(epochs):
        todo = list(rng.permutation(index)[:len(index) // per_step * per_step])
        while todo:
            now, todo = todo[:per_step], todo[per_step:]
            gain = rng.uniform(0.5, 2.0, (len(now), 1, 1)).astype(np.float32)
            yield epoch, not todo, traces[now] * gain, target[now]
