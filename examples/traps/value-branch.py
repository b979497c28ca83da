# trap: value-branch
# function: apply_update
# recompiles: 1
# fix: where, cond
"""Clipping is decided by a Python `if` on the gradient norm that was just computed on the device."""

import functools

import jax
import jax.numpy as jnp
import numpy as np

WIDTH = 16  # size: 8..40 by 8
BATCH = 12  # size: 8..24 by 4


@jax.jit
def gradients(params, x, y):
    def loss_of(p):
        return jnp.mean((jax.nn.relu(x @ p["in"]) @ p["out"] - y) ** 2)

    loss, grads = jax.value_and_grad(loss_of)(params)
    norm = jnp.sqrt(sum(jnp.vdot(g, g) for g in jax.tree.leaves(grads)))
    return loss, grads, norm


@functools.partial(jax.jit, static_argnums=3)
def apply_update(params, grads, norm, clip):
    if clip:
        grads = jax.tree.map(lambda g: g * (0.5 / norm), grads)  # origin
    return jax.tree.map(lambda p, g: p - 0.1 * g, params, grads)


def main():
    rng = np.random.default_rng(10)
    params = {
        "in": rng.normal(size=(6, WIDTH)).astype(np.float32) * 0.2,
        "out": rng.normal(size=(WIDTH, 1)).astype(np.float32) * 0.2,
    }
    for step in range(10):
        x = rng.normal(size=(BATCH, 6)).astype(np.float32)
        spread = 40.0 if step in (4, 7) else 0.01
        loss, grads, norm = gradients(params, x, spread * x.sum(1, keepdims=True))
        clip = bool(norm > 5.0)
        params = apply_update(params, grads, norm, clip)  # trigger
    print("loss", float(loss))


if __name__ == "__main__":
    main()
