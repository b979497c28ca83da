"""Row R: two search strategies with methods of one name; a second launch has a warm store."""
from functools import partial

import jax
import jax.numpy as jnp


class Gaussian:
    def __init__(self, size):
        self.size = size

    @partial(jax.jit, static_argnames=("self",))
    def ask(self, key, state):
        noise = jax.random.normal(key, (self.size, state["mean"].shape[0]))
        return state["mean"] + state["width"] * noise, state

    @partial(jax.jit, static_argnames=("self",))
    def tell(self, found, fitness, state):
        best = found[jnp.argsort(fitness)[:3]].mean(0)
        return {"mean": best, "width": state["width"] * 0.95}


class Mirrored(Gaussian):
    @partial(jax.jit, static_argnames=("self",))
    def ask(self, key, state):
        half = jax.random.normal(key, (self.size // 2, state["mean"].shape[0]))
        return state["mean"] + state["width"] * jnp.concatenate([half, -half]), state


key = jax.random.key(5)
for strategy in (Gaussian(8), Mirrored(8)):
    state = {"mean": jnp.ones(4), "width": 0.5}
    for turn in range(12):
        key, now = jax.random.split(key)
        found, state = strategy.ask(now, state)
        state = strategy.tell(found, jnp.sum(found ** 2, axis=1), state)
print(state["mean"].shape)
