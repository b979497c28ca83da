"""Row M: lengths are buckets; the loss is read back in the line that calls the step."""
import jax
import jax.numpy as jnp
import numpy as np

rng = np.random.default_rng(2)


@jax.jit
def score(table, words):
    return jnp.square(table[words]).sum()


table = jnp.ones((50, 4))
history = []
for epoch in range(2):
    for size in (10, 20, 10, 30, 20, 30):
        words = rng.integers(0, 50, (8, size)); history.append(float(score(table, words)))
print(sum(history))
