import itertools
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import optax

SPACE = {"lr": [3e-3, 1e-2, 3e-2, 1e-1], "wd": [0.0, 1e-3], "dropout": [0.0, 0.2]}


def grid(space):
    keys = sorted(space)
    rows = [dict(zip(keys, v)) for v in itertools.product(*(space[k] for k in keys))]
    return {k: np.array([r[k] for r in rows], np.float32) for k in keys}


def init_one(key, dim, hidden):
    k1, k2 = jax.random.split(key)
    return {"w": jax.random.normal(k1, (dim, hidden)) * dim**-0.5, "b": jnp.zeros(hidden), "v": jax.random.normal(k2, (hidden,)) * 0.2}


def logits(p, x):
    return jnp.tanh(x @ p["w"] + p["b"]) @ p["v"]


def loss_fn(p, x, y):
    return optax.sigmoid_binary_cross_entropy(logits(p, x), y).mean()


def _member(p, m, hp, x, y, key):
    keep = jax.random.bernoulli(key, 1.0 - hp["dropout"], x.shape)
    loss, g = jax.value_and_grad(loss_fn)(p, x * keep, y)
    m = jax.tree.map(lambda a, b: 0.9 * a + b, m, g)
    p = jax.tree.map(lambda a, b: a - hp["lr"] * (b + hp["wd"] * a), p, m)
    return p, m, loss


@jax.jit
def train_population(pop, x, y, key):
    p, m, loss = jax.vmap(_member, in_axes=(0, 0, 0, None, None, None))(pop["p"], pop["m"], pop["hp"], x, y, key)
    return {**pop, "p": p, "m": m}, loss


@partial(jax.jit, static_argnames=("start", "size"))
def batch_at(data, start, size):
    return jax.tree.map(lambda a: a[start : start + size], data)


@jax.jit
def ensemble_score(p, x, y):
    acc = jax.vmap(lambda q: ((logits(q, x) > 0) == (y > 0.5)).mean())(p)
    return acc


class SuccessiveHalving:
    def __init__(self, dim, hidden, eta=2, seed=0):
        self.eta = eta
        hp = grid(SPACE)
        n = len(hp["lr"])
        keys = jax.random.split(jax.random.PRNGKey(seed), n)
        p = jax.jit(jax.vmap(lambda k: init_one(k, dim, hidden)))(keys)
        self.pop = {"p": p, "m": jax.tree.map(np.zeros_like, p), "hp": hp, "id": np.arange(n)}

    def __len__(self):
        return len(self.pop["id"])

    def promote(self, scores):
        order = np.argsort(-np.asarray(scores), kind="stable")
        winners = np.sort(order[: max(1, len(order) // self.eta)])
        self.pop = jax.tree.map(lambda a: np.asarray(a)[winners], self.pop)
        return winners
