import functools

import jax
import jax.numpy as jnp
import optax

tx = optax.chain(optax.clip(1.0), optax.adam(6e-3))


def colour(params, recipe):
    h = jnp.tanh(recipe @ params["oxide"] + params["soak"])
    return h @ params["lab"]


@jax.jit
def micro(params, held, part, scale):
    def scaled(p):
        miss = colour(p, part["recipe"]) - part["lab"]
        loss = jnp.mean(miss ** 2)
        return loss * scale, loss

    grads, loss = jax.grad(scaled, has_aux=True)(params)
    grads = jax.tree.map(lambda g: g.astype(jnp.float16), grads)
    if held is None:
        return grads, loss
    return jax.tree.map(jnp.add, held, grads), loss


@functools.partial(jax.jit, static_argnums=(3, 4))
def flush(params, opt, held, scale, parts):
    grads = jax.tree.map(lambda g: g.astype(jnp.float32) / (scale * parts), held)
    ok = jnp.all(jnp.stack([jnp.all(jnp.isfinite(g)) for g in jax.tree.leaves(grads)]))
    safe = jax.tree.map(lambda g: jnp.where(ok, g, 0.0), grads)
    up, new = tx.update(safe, opt)
    moved = optax.apply_updates(params, up)
    keep = lambda a, b: jnp.where(ok, a, b)
    return jax.tree.map(keep, moved, params), jax.tree.map(keep, new, opt), ok


class Scaler:
    def __init__(self, start, patience):
        self.value, self.patience, self.good = float(start), patience, 0

    def see(self, ok):
        if not ok:
            self.value, self.good = max(self.value / 2, 1.0), 0
            return
        self.good += 1
        if self.good >= self.patience:
            self.value, self.good = self.value * 2, 0
