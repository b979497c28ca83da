"""M2: dropout is switched off for the last turns by a static argument; the random key is unused then."""
from functools import partial

import flax.linen as nn
import jax
import jax.numpy as jnp
import optax


class Net(nn.Module):
    @nn.compact
    def __call__(self, x, noisy):
        x = nn.LayerNorm()(nn.Dense(16)(x))
        x = nn.Dropout(0.2, deterministic=not noisy)(x)
        return nn.Dense(1)(x)


net, rule = Net(), optax.adam(1e-2)


@partial(jax.jit, static_argnames="noisy")
def train(weights, memory, x, key, noisy):
    def loss(w):
        return jnp.mean(net.apply(w, x, noisy, rngs={"dropout": key}) ** 2)

    slopes = jax.grad(loss)(weights)
    change, memory = rule.update(slopes, memory)
    return optax.apply_updates(weights, change), memory


x = jnp.ones((8, 3))
weights = net.init(jax.random.key(0), x, False)
memory = rule.init(weights)
key = jax.random.key(1)
for turn in range(10):
    key, now = jax.random.split(key)
    weights, memory = train(weights, memory, x, now, noisy=turn < 7)
print(jax.tree.leaves(weights)[0].sum())
