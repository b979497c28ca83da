"""M11: each pass over the held-out set has one full batch and a short one."""
import jax
import jax.numpy as jnp
import numpy as np

data = np.random.default_rng(5).normal(size=(72, 4)).astype(np.float32)
held_out = data[:22]


@jax.jit
def learn(weights, rows):
    return weights - 0.1 * jax.grad(lambda w: jnp.mean((rows @ w) ** 2))(weights)


@jax.jit
def measure(weights, rows):
    return jnp.mean((rows @ weights) ** 2)


weights = jnp.ones(4)
for epoch in range(3):
    for at in range(0, 72, 12):
        weights = learn(weights, data[at:at + 12])
    losses = [measure(weights, held_out[at:at + 12]) for at in range(0, len(held_out), 12)]
print(float(sum(losses)))
