# %% [markdown]
# # Homework 3: two moons
# Train a small network from scratch, sweep the step size, plot (here: print) the curves.

# %%
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import optax

# %%
rng = np.random.default_rng(42)


def two_moons(n):
    t = rng.uniform(0, np.pi, n)
    y = rng.integers(0, 2, n)
    x = np.stack([np.where(y == 0, np.cos(t), 1 - np.cos(t)), np.where(y == 0, np.sin(t), 0.5 - np.sin(t))], 1)
    return (x + rng.normal(scale=0.1, size=x.shape)).astype(np.float32), y.astype(np.int32)


X_train, y_train = two_moons(256)
X_test, y_test = two_moons(300)


# %%
def init_mlp(seed, sizes=(2, 32, 32, 2)):
    keys = jax.random.split(jax.random.key(seed), len(sizes))
    return [
        (jax.random.normal(k, (a, b)) * (2 / a) ** 0.5, jnp.zeros(b))
        for k, a, b in zip(keys, sizes[:-1], sizes[1:])
    ]


def mlp(params, x):
    for w, b in params[:-1]:
        x = jax.nn.relu(x @ w + b)
    w, b = params[-1]
    return x @ w + b


# %%
class Classifier:
    def __init__(self, step_size, seed=0):
        self.optim = optax.sgd(step_size, momentum=0.9)
        self.params = init_mlp(seed)
        self.momentum = self.optim.init(self.params)
        self.history = []

    @partial(jax.jit, static_argnums=0)
    def update(self, params, momentum, x, y):
        def nll(p):
            return optax.softmax_cross_entropy_with_integer_labels(mlp(p, x), y).mean()

        loss, g = jax.value_and_grad(nll)(params)
        u, momentum = self.optim.update(g, momentum)
        return optax.apply_updates(params, u), momentum, loss

    def fit(self, x, y, epochs, batch=64):
        for _ in range(epochs):
            order = rng.permutation(len(x))
            for i in range(0, len(x), batch):
                take = order[i:i + batch]
                self.params, self.momentum, loss = self.update(self.params, self.momentum, x[take], y[take])
            self.history.append(loss)
        return self


# %%
@jax.jit
def count_correct(params, x, y):
    return jnp.sum(jnp.argmax(mlp(params, x), -1) == y)


def accuracy(params, x, y, chunk=128):
    good = 0
    for xs, ys in zip(np.split(x, range(chunk, len(x), chunk)), np.split(y, range(chunk, len(y), chunk))):
        good += int(count_correct(params, xs, ys))
    return good / len(x)


# %%
results = {}
for step_size in (0.3, 0.1, 0.03, 0.01):
    net = Classifier(step_size).fit(X_train, y_train, epochs=4)
    results[step_size] = (float(net.history[-1]), accuracy(net.params, X_test, y_test))

# %%
for step_size, (loss, acc) in results.items():
    print(f"step size {step_size:5.2f}   final loss {loss:.3f}   test accuracy {acc:.3f}")

best = max(results, key=lambda s: results[s][1])
print("best step size:", best)
