"""Version 1 of a module of the user's."""
import jax.numpy as jnp


def forward(weights, batch):
    return jnp.tanh(batch * weights)
