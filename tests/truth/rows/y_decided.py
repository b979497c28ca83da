"""Y: what differs is decided some lines before the call: for a cached builder of jitted functions, for a dictionary
that another function passes on, for a word, and for a function that closes over its data."""
import functools

import jax
import jax.numpy as jnp
import numpy as np


@functools.lru_cache
def smoother(radius):
    return jax.jit(lambda heights: sum(jnp.roll(heights, by) for by in range(radius)) / radius)


@jax.jit
def settle(level, sample):
    pull = jnp.mean(sample["depth"] - level)
    if "trust" in sample:
        pull = pull * jnp.mean(sample["trust"])
    return level + 0.1 * pull


def relay(*given):
    return settle(*given)


@functools.partial(jax.jit, static_argnames="border")
def widen(heights, border):
    return jnp.pad(heights, 2, mode=border).mean()


def fitted(depths):
    return jax.jit(lambda level: level + 0.01 * jnp.sum(jnp.asarray(depths)))


draw = np.random.default_rng(3)
heights, level, other = jnp.linspace(0.0, 1.0, 24), jnp.float32(0.0), jnp.float32(0.0)
for turn in range(12):
    reach = 2 + turn // 5
    heights = smoother(reach)(heights)
    sample = {"depth": draw.normal(size=8).astype(np.float32)}
    if turn % 4 == 2:
        sample = {**sample, "trust": np.ones(8, np.float32)}
    level = relay(level, sample)
    how = "wrap" if turn == 7 else "edge"
    other = other + widen(heights, border=how)
    if turn % 3 == 1:
        closer = fitted(draw.normal(size=6).astype(np.float32))
        other = closer(other)
print(float(level), float(other))
