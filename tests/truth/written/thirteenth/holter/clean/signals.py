import jax
import jax.numpy as jnp
import numpy as np


def ward_patient(seed, fs=100, seconds=8):
    rng = np.random.default_rng(seed)
    while True:
        n = fs * seconds
        trace = rng.normal(0, 0.02, n)
        t = float(rng.uniform(0.3, 0.6))
        rate = rng.uniform(0.65, 1.1)
        while t < seconds - 0.3:
            k = np.arange(n) / fs - t
            trace += np.exp(-(k / 0.012) ** 2) - 0.25 * np.exp(-((k - 0.04) / 0.015) ** 2)
            trace += 0.2 * np.exp(-((k - 0.22) / 0.05) ** 2)
            t += rate * rng.uniform(0.93, 1.07)
        yield trace.astype(np.float32)


@jax.jit
def detect(seg, level, noise):
    slope = jnp.convolve(seg, jnp.array([1.0, 2.0, 0.0, -2.0, -1.0]) / 4, mode="same")
    energy = jnp.convolve(slope ** 2, jnp.ones(9) / 9, mode="same")
    energy = energy / (energy.max() + 1e-6)
    neighbours = jnp.stack([jnp.roll(energy, s) for s in range(-20, 21)])
    marks = (energy >= neighbours.max(0)) & (energy > level) & (energy > noise)
    strength = jnp.sum(jnp.where(marks, energy, 0.0)) / jnp.maximum(marks.sum(), 1)
    return marks, 0.9 * level + 0.1 * 0.4 * strength


@jax.jit
def align(template, beats, live):
    z = beats - beats.mean(1, keepdims=True)
    t = template - template.mean()
    score = z @ t / (jnp.linalg.norm(z, axis=1) * jnp.linalg.norm(t) + 1e-6)
    w = jax.nn.softmax(jnp.where(live, 4.0 * score, -jnp.inf))
    return 0.8 * template + 0.2 * (w @ beats), jnp.sum(jnp.where(live, score, 0.0)) / live.sum()


@jax.jit
def hrv(rr, n):
    at = jnp.arange(rr.size)
    d = jnp.where(at[1:] < n, jnp.diff(rr), 0.0)
    mean = jnp.sum(jnp.where(at < n, rr, 0.0)) / n
    return {"bpm": 60.0 / mean, "rmssd": jnp.sqrt(jnp.sum(d ** 2) / (n - 1)), "pnn50": jnp.sum(jnp.abs(d) > 0.05) / (n - 1)}
