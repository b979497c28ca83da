# trap: slice-start
# also: static-argument
# function: window_loss
# recompiles: 5
# fix: dynamic_slice
"""A window slides over a series that stays on the device; its start is a Python int."""

import functools

import jax
import jax.numpy as jnp
import numpy as np

LENGTH = 160  # size: 160 200 256
WINDOW = 16  # size: 8..24 by 8
STRIDE = 12  # size: 7 12 18
WIDTH = 8  # size: 4..16 by 4


@functools.partial(jax.jit, static_argnums=2)
def window_loss(params, series, start):
    part = series[start : start + WINDOW]  # origin
    hidden = jnp.tanh(part[:-1] @ params["in"])
    error = hidden @ params["out"] - part[1:]
    return jnp.mean(error**2)


def main():
    rng = np.random.default_rng(8)
    params = {
        "in": rng.normal(size=(3, WIDTH)).astype(np.float32) * 0.4,
        "out": rng.normal(size=(WIDTH, 3)).astype(np.float32) * 0.4,
    }
    series = jax.device_put(rng.normal(size=(LENGTH, 3)).astype(np.float32))
    for epoch in range(2):
        total = 0.0
        for window in range(6):
            loss = window_loss(params, series, window * STRIDE)  # trigger
            total += float(loss)
        print("epoch", epoch, "loss", total)


if __name__ == "__main__":
    main()
