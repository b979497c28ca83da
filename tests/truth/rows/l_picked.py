"""Row L: rows are picked by index, always as many; the columns that they are picked from become more."""
import jax
import jax.numpy as jnp

series = jnp.arange(480.0).reshape(24, 20)


@jax.jit
def fit(scale, rows):
    return scale - 0.01 * jnp.mean(rows) * scale


scale = jnp.ones(())
for stage in (5, 20):
    seen = series[:, :stage]
    for turn in range(6):
        picked = jax.random.permutation(jax.random.key(turn), 24)[:8]
        scale = fit(scale, seen[picked])
print(float(scale))
