import argparse

import jax
import jax.numpy as jnp

from pipeline import build

ap = argparse.ArgumentParser()
ap.add_argument("--epochs", type=int, default=2)
ap.add_argument("--rows", type=int, default=170)
opts = ap.parse_args([])


def score(params, b):
    s = (params["u"][b["user"]] * params["i"][b["item"]]).sum(-1)
    if "price" in b:
        s = s - params["price"] * b["price"]
    return s


def objective(params, b):
    z = score(params, b)
    return jnp.mean(jnp.logaddexp(0.0, z) - b["y"] * z)


@jax.jit
def step(params, b):
    return jax.tree.map(lambda p, g: p - 0.1 * g, params, jax.grad(objective)(params, b))


ku, ki = jax.random.split(jax.random.PRNGKey(7))
params = {"u": jax.random.normal(ku, (40, 8)), "i": jax.random.normal(ki, (60, 8)), "price": jnp.zeros(())}
for epoch in range(opts.epochs):
    for b in build(opts.rows, epoch):
        params = step(params, b)
