import equinox as eqx
import jax
import jax.numpy as jnp


class Encoder(eqx.Module):
    layers: list
    tau: jax.Array
    norm: bool = eqx.field(static=True)

    def __init__(self, d_in, d_out, *, key, tau=0.5, norm=True):
        a, b = jax.random.split(key)
        self.layers = [eqx.nn.Linear(d_in, 32, key=a), eqx.nn.Linear(32, d_out, key=b)]
        self.tau = jnp.asarray(tau, jnp.float32)
        self.norm = norm

    def __call__(self, x):
        h = self.layers[1](jax.nn.relu(self.layers[0](x)))
        return h / (jnp.linalg.norm(h) + 1e-6) if self.norm else h


class Anneal:
    def __init__(self, hi=0.5, lo=0.1):
        self.hi, self.lo = hi, lo

    def __call__(self, model, frac):
        tau = jnp.asarray(self.hi * (self.lo / self.hi) ** frac, jnp.float32)
        return eqx.tree_at(lambda m: m.tau, model, tau)


def info_nce(model, anchors, positives, negatives):
    za, zp, zn = (jax.vmap(model)(t) for t in (anchors, positives, negatives))
    pos = jnp.sum(za * zp, -1, keepdims=True)
    logits = jnp.concatenate([pos, za @ zn.T], axis=1) / jax.lax.stop_gradient(model.tau)
    return -jax.nn.log_softmax(logits, axis=1)[:, 0].mean()
