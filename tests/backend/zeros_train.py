"""A language model of the size that is asked for, trained for three steps on all devices; prints what it has and
takes.

usage: zeros_train.py LAYERS WIDTH HIDDEN"""
import functools
import json
import resource
import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

layers, width, hidden = map(int, sys.argv[1:])
words, length = 128256, 4096
devices = np.array(jax.devices())
mesh = Mesh(devices.reshape(-1, 2), ("data", "model"))
row, column = P(None, "data", "model"), P(None, "model", "data")
shapes = {"query": ((layers, width, width), row), "out": ((layers, width, width), column),
          "gate": ((layers, width, hidden), row), "up": ((layers, width, hidden), row),
          "down": ((layers, hidden, width), column), "words": ((words, width), P("model", "data"))}


@jax.jit
def make(key):
    return {k: jax.lax.with_sharding_constraint(jax.random.normal(key, s), NamedSharding(mesh, p))
            for k, (s, p) in shapes.items()}


def rows(h):
    """Each pair of devices has its own part of the batch."""
    return jax.lax.with_sharding_constraint(h, NamedSharding(mesh, P("data", None, None)))


def block(h, w):
    h = rows(h)
    weights = jax.nn.softmax(jnp.einsum("bsd,btd->bst", h @ w["query"], h) / 100, -1)
    h = h + jnp.einsum("bst,btd->bsd", weights, h) @ w["out"]
    return h + (jax.nn.silu(h @ w["gate"]) * (h @ w["up"])) @ w["down"], None


def loss_of(params, tokens):
    w = {k: v.astype(jnp.bfloat16) for k, v in params.items()}
    table = w.pop("words")
    h, _ = jax.lax.scan(jax.checkpoint(block), table[tokens], w)
    scores = jax.nn.log_softmax((rows(h) @ table.T).astype(jnp.float32))
    return -jnp.mean(jnp.take_along_axis(scores, tokens[..., None], -1))


@functools.partial(jax.jit, donate_argnums=(0, 1, 2))
def step(params, first, second, tokens):
    loss, grads = jax.value_and_grad(loss_of)(params, tokens)
    first = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, first, grads)
    second = jax.tree.map(lambda v, g: 0.99 * v + 0.01 * g * g, second, grads)
    params = jax.tree.map(lambda p, m, v: p - 1e-3 * m / (jnp.sqrt(v) + 1e-8), params, first, second)
    return params, first, second, loss


params = make(jax.random.PRNGKey(0))
first, second = (jax.tree.map(jnp.zeros_like, params) for _ in range(2))
tokens = jax.device_put(np.ones((len(devices) // 2, length), np.int32), NamedSharding(mesh, P("data", None)))
losses = []
for _ in range(3):
    params, first, second, loss = step(params, first, second, tokens)
    value = float(loss)
    if value < 0:
        break
    losses.append(value)
print(json.dumps({
    "devices": len(devices), "platform": devices[0].platform, "losses": losses,
    "parameters": sum(p.size for p in params.values()),
    "shardings": {k: str(p.sharding.spec) for k, p in params.items()},
    "in_use": devices[0].memory_stats()["bytes_in_use"],
    "resident": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
}))
