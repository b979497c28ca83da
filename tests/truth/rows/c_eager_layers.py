"""Rows C and D: operations outside jit, each place and width compiled once, after the loop."""
import jax
import jax.numpy as jnp


@jax.jit
def advance(layers, batch):
    return [{k: v * 0.99 for k, v in layer.items()} for layer in layers]


widths = [6, 48, 48, 24, 2]
layers = [{"m": jnp.full((a, b), 0.1), "c": jnp.zeros(b)} for a, b in zip(widths, widths[1:])]
batch = jnp.ones((40, 6))
for turn in range(30):
    layers = advance(layers, batch)

hidden = batch
for layer in layers:
    hidden = jax.nn.gelu(hidden @ layer["m"] + layer["c"])
total, sums = jax.lax.scan(lambda c, r: (c + r.sum(), r * 2), 0.0, hidden)
_, more = jax.lax.scan(lambda c, r: (c * r, c), jnp.ones(3), jnp.ones((4, 3)))
count = jax.lax.while_loop(lambda s: s < 10, lambda s: s + 3, 0)
other = jax.lax.while_loop(lambda s: s[0] < 3, lambda s: (s[0] + 1, s[1] * 2), (0, jnp.ones(4)))
print(total, sums.shape, more.shape, count, other[1])
print(jnp.pad(hidden, 1).sum(), jnp.pad(jnp.ones(5), 2).sum(), jnp.argsort(hidden[:, 0])[:4])
