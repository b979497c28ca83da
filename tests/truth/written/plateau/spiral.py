"""Two spirals, told apart."""
import jax
import jax.numpy as jnp
import numpy as np
import optax

from engine import Engine, Plateau


def spirals(count, seed):
    rng = np.random.default_rng(seed)
    arm = rng.integers(0, 2, count)
    turn = rng.uniform(0.5, 3, count)
    angle = turn * 2 + np.pi * arm
    points = np.stack([turn * np.cos(angle), turn * np.sin(angle)], 1)
    return (points + 0.05 * rng.standard_normal(points.shape)).astype(np.float32), arm.astype(np.float32)


class Epoch:
    """One pass in random order; only full batches."""

    def __init__(self, points, arms, size, seed):
        self.points, self.arms, self.size = points, arms, size
        self.rng = np.random.default_rng(seed)

    def __iter__(self):
        order = self.rng.permutation(len(self.points))
        for chunk in np.split(order, len(order) // self.size):
            yield {"at": self.points[chunk], "arm": self.arms[chunk]}


def network(sizes, key):
    keys = jax.random.split(key, len(sizes) - 1)
    return [(jax.random.normal(k, (i, o)) * (2 / i) ** 0.5, jnp.zeros(o))
            for k, i, o in zip(keys, sizes[:-1], sizes[1:])]


def logits(params, x):
    for weight, bias in params[:-1]:
        x = jnp.maximum(x @ weight + bias, 0)
    weight, bias = params[-1]
    return (x @ weight + bias)[:, 0]


def loss_fn(params, batch):
    return optax.sigmoid_binary_cross_entropy(logits(params, batch["at"]), batch["arm"]).mean()


def main(epochs=10):
    points, arms = spirals(128, 0)
    engine = Engine(loss_fn, network([2, 24, 24, 1], jax.random.key(0)), rate=0.4)
    slower = Plateau(tolerance=0.4)
    data = Epoch(points, arms, 32, seed=4)
    for number in range(epochs):
        print(number, f"{engine.fit(data, [slower]):.3f} rate {engine.rate}")


if __name__ == "__main__":
    main()
