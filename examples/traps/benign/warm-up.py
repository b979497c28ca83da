# trap: none
# recompiles: 0
"""Parameters are made on the device, layer by layer, each in its own shape, before training begins."""

import jax
import jax.numpy as jnp
import numpy as np

WIDTH = 16  # size: 8..48 by 8
BATCH = 8  # size: 6..20 by 2


def init(key, sizes):
    layers = []
    for rows, columns in zip(sizes[:-1], sizes[1:]):
        key, use = jax.random.split(key)
        layers.append((jax.random.normal(use, (rows, columns)) * 0.2, jnp.zeros(columns)))
    return layers


def forward(layers, x):
    for weights, bias in layers[:-1]:
        x = jax.nn.gelu(x @ weights + bias)
    weights, bias = layers[-1]
    return x @ weights + bias


@jax.jit
def train_step(layers, x, y):
    def loss_of(p):
        return jnp.mean((forward(p, x) - y) ** 2)

    loss, grads = jax.value_and_grad(loss_of)(layers)
    return jax.tree.map(lambda p, g: p - 0.05 * g, layers, grads), loss


def main():
    layers = init(jax.random.key(0), [7, WIDTH, 2 * WIDTH, 1])
    rng = np.random.default_rng(28)
    for step in range(12):
        x = rng.normal(size=(BATCH, 7)).astype(np.float32)
        layers, loss = train_step(layers, x, x[:, :1])
    print("loss", float(loss))


if __name__ == "__main__":
    main()
