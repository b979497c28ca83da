import functools

import jax
import jax.numpy as jnp


def eps_net(w, x, t, label):
    e = w["label"][label] + w["time"] * t
    return jnp.tanh(x @ w["in"] + e) @ w["out"]


@functools.lru_cache(maxsize=None)
def guided(net, scale):
    def denoise(w, x, t, label):
        cond = net(w, x, t, label)
        free = net(w, x, t, 0)
        return cond + scale * (cond - free)

    return jax.jit(denoise)
