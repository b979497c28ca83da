"""Row K: a static argument is the length of what the function makes."""
from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnums=(1,))
def spectrum(signal, bins):
    edges = jnp.linspace(-1.0, 1.0, bins)
    return jnp.exp(-(signal[:, None] - edges) ** 2).sum(0)


signal = jnp.ones(20)
for bins in (16, 12, 9):
    print(spectrum(signal, bins).shape)
