import jax
import jax.numpy as jnp
import numpy as np
import optax

from clients import apply


@jax.jit
def weighted_mean(stacked, weights):
    w = weights / weights.sum()
    return jax.tree.map(lambda s: jnp.tensordot(w, s, axes=1), stacked)


@jax.jit
def spread(stacked, mean):
    sq = jax.tree.map(lambda s, m: jnp.square(s - m[None]).reshape(s.shape[0], -1).sum(1).mean(), stacked, mean)
    return jnp.sqrt(sum(jax.tree.leaves(sq)))


@jax.jit
def accuracy(params, x, y):
    return (apply(params, x).argmax(-1) == y).mean()


class FedOptServer:
    def __init__(self, params, server_lr=1.0, mu=0.1, limit=0.25):
        self.params, self.mu, self.limit = params, mu, limit
        self.tx = optax.sgd(server_lr, momentum=0.5)
        self.opt_state = self.tx.init(params)
        self.divergence = 0.0

    def round_config(self, rnd):
        cfg = {"lr": 0.2 * 0.97**rnd, "mu": None}
        if rnd > 3 and self.divergence > self.limit:
            cfg["mu"] = np.float32(self.mu)
        return cfg

    def aggregate(self, replies):
        stacked = jax.tree.map(lambda *d: np.stack(d), *[r["delta"] for r in replies])
        weights = np.array([r["n"] for r in replies], np.float32)
        mean = weighted_mean(stacked, weights)
        self.divergence = float(spread(stacked, mean))
        upd, self.opt_state = self.tx.update(jax.tree.map(jnp.negative, mean), self.opt_state)
        self.params = optax.apply_updates(self.params, upd)
