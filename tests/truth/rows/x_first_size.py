"""Row X: sizes drift. The first smaller one could be a last batch; the pause lets live look at it alone."""
import time

import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def energy(samples):
    return jnp.mean(jnp.sin(samples) ** 2)


total = 0.0
for turn, count in enumerate([16, 16, 16, 12, 14, 10, 16]):
    total += float(energy(np.linspace(0, 1, count, dtype=np.float32)))
    if turn == 3:
        time.sleep(8)
print(total)
