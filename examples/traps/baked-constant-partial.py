# trap: baked-constant
# function: anneal
# recompiles: 4
# fix: argument
"""The mixing weight grows during training and is bound with functools.partial."""

import functools

import jax
import jax.numpy as jnp
import numpy as np

FEATURES = 12  # size: 6..24 by 6
BATCH = 16  # size: 8..32 by 8


def anneal(state, inputs, beta):
    mean, log_variance = jnp.split(inputs @ state["encoder"], 2, axis=-1)
    decoded = jnp.tanh(mean) @ state["decoder"]
    divergence = -0.5 * jnp.mean(1.0 + log_variance - mean**2 - jnp.exp(log_variance))
    return jnp.mean((decoded - inputs) ** 2) + beta * divergence  # origin


def main():
    rng = np.random.default_rng(40)
    state = {
        "encoder": rng.normal(size=(FEATURES, 8)).astype(np.float32) * 0.1,
        "decoder": rng.normal(size=(4, FEATURES)).astype(np.float32) * 0.1,
    }
    for beta in np.linspace(0.05, 0.93, 5):
        objective = jax.jit(functools.partial(anneal, beta=float(beta)))
        for _ in range(3):
            inputs = rng.normal(size=(BATCH, FEATURES)).astype(np.float32)
            value = objective(state, inputs)  # trigger
        print("objective", float(value))


if __name__ == "__main__":
    main()
