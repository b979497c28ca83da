"""A recurrent filter that lives beside the trap; side_filter(N) takes N training steps."""

import jax
import jax.numpy as jnp
import numpy as np


def filtered(gain, signal):
    def advance(carry, sample):
        carry = carry * jax.nn.sigmoid(gain) + sample
        return carry, carry

    return jax.lax.scan(advance, jnp.zeros_like(gain), signal)[1]


@jax.jit
def filter_step(gain, signal, wanted):
    def loss_of(g):
        return jnp.mean((filtered(g, signal) - wanted) ** 2)

    value, slope = jax.value_and_grad(loss_of)(gain)
    return gain - 0.1 * slope, value


@jax.jit
def filter_quality(gain, signal):
    return jnp.std(filtered(gain, signal))


FILTER = []


def side_filter(steps):
    if not FILTER:
        FILTER.append((np.random.default_rng(101), np.zeros(4, np.float32)))
    rng, gain = FILTER.pop()
    for _ in range(steps):
        signal = rng.normal(size=(13, 4)).astype(np.float32)
        gain, _ = filter_step(gain, signal, signal.cumsum(0))
    filter_quality(gain, signal)
    FILTER.append((rng, gain))
