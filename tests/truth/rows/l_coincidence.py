"""M9: lengths from the host, and a mask whose number of elements happens to be one of them."""
import jax
import jax.numpy as jnp
import numpy as np

draw = np.random.default_rng(11)


@jax.jit
def bag(vectors, tokens):
    return vectors[tokens].mean(0)


@jax.jit
def dot(rows, weights):
    return (rows * weights).sum()


vectors = jnp.ones((60, 8))
scores = jnp.arange(30.0)
for turn, length in enumerate((12, 20, 12, 7, 25, 12)):
    tokens = draw.integers(0, 60, length)
    out = bag(vectors, tokens)
    kept = scores[scores >= 30 - (20 if turn % 2 else 12)]
    dot(kept, jnp.ones(kept.shape))
print(out.sum())
