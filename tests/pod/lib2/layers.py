"""Version 2 of a module of the user's: another activation."""
import jax.numpy as jnp


def forward(weights, batch):
    return jnp.tanh(batch * weights) * 0.5 + 0.5  # here: module
