import functools

import jax
import jax.numpy as jnp


def eps_net(w, x, t, label):
    e = w["label"][label] + w["time"] * t
    return jnp.tanh(x @ w["in"] + e) @ w["out"]


@functools.partial(jax.jit, static_argnums=0)
def denoise(net, w, x, t, label, scale):
    cond = net(w, x, t, label)
    free = net(w, x, t, 0)
    return cond + scale * (cond - free)
