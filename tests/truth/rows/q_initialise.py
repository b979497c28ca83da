"""Row Q: a model whose weights are made, and tried once, outside jit before the loop begins."""
import jax
import jax.numpy as jnp


class Dense:
    def __init__(self, key, inner, outer):
        bound = 1 / jnp.sqrt(inner)
        self.kernel = jax.random.uniform(key, (inner, outer), minval=-bound, maxval=bound)
        self.shift = jnp.zeros(outer)

    def __call__(self, x):
        return x @ self.kernel + self.shift


class Tower:
    def __init__(self, key, widths):
        keys = jax.random.split(key, len(widths) - 1)
        self.layers = [Dense(k, a, b) for k, a, b in zip(keys, widths, widths[1:])]

    def weights(self):
        return [(layer.kernel, layer.shift) for layer in self.layers]

    def __call__(self, x):
        for layer in self.layers:
            x = jnp.tanh(layer(x))
        return x


def distance(weights, x):
    for kernel, shift in weights:
        x = jnp.tanh(x @ kernel + shift)
    return jnp.mean(x ** 2)


@jax.jit
def descend(weights, x):
    value, slopes = jax.value_and_grad(distance)(weights, x)
    return jax.tree.map(lambda w, g: w - 0.1 * g, weights, slopes), value


tower = Tower(jax.random.key(3), [5, 40, 40, 20, 10, 3])
x = jnp.linspace(-1, 1, 60).reshape(12, 5)
print(tower(x).shape)
weights = tower.weights()
for turn in range(30):
    weights, value = descend(weights, x)
print(float(value))
