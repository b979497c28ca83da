from functools import partial

import jax
import jax.numpy as jnp
import numpy as np

STATIONS = ["Aarau", "Brugg", "Chur", "Davos", "Egg", "Flims"]


def record(hours, seed):
    rng = np.random.default_rng(seed)
    coupling = 0.5 * np.eye(6) + 0.35 * np.eye(6, k=1)
    d = np.zeros((hours, 6))
    for t in range(1, hours):
        d[t] = d[t - 1] @ coupling + rng.exponential(0.4, 6) * (rng.random(6) < 0.5)
        if t % 17 == 0:
            d[t, rng.integers(6)] += 6
    return d.astype(np.float32)


def predict(params, now):
    return now @ params["couple"] + jax.nn.softplus(params["base"])


@partial(jax.jit, static_argnums=(2, 3))
def residual(params, delays, start, span):
    view = delays[start:start + span]
    err = predict(params, view[:-1]) - view[1:]
    return jnp.sqrt(jnp.mean(err ** 2, axis=0))


def huber(params, now, then):
    return jnp.mean(jnp.where(jnp.abs(e := predict(params, now) - then) < 1, 0.5 * e ** 2, jnp.abs(e) - 0.5))
