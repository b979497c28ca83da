import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax

from proteins import AA, CROP, Folds
from settings import Settings


class Pairwise(eqx.Module):
    left: eqx.nn.Linear
    right: eqx.nn.Linear
    bias: jax.Array

    def __init__(self, d, h, key):
        k1, k2 = jax.random.split(key)
        self.left = eqx.nn.Linear(d, h, key=k1)
        self.right = eqx.nn.Linear(d, h, key=k2)
        self.bias = jnp.full((), 2.0, jnp.float32)

    def __call__(self, feat):
        a, b = jax.vmap(self.left)(feat), jax.vmap(self.right)(feat)
        d2 = jnp.square(a[:, None] - b[None]).sum(-1)
        return self.bias - 0.5 * (d2 + d2.T)


opt = optax.adam(2e-2)


def bce(logit, y, w):
    return (w * optax.sigmoid_binary_cross_entropy(logit, y)).sum() / w.sum()


@eqx.filter_jit
def step(model, state, feat, contacts, weight):
    l, g = eqx.filter_value_and_grad(lambda m: bce(m(feat), contacts, weight))(model)
    u, state = opt.update(g, state)
    return eqx.apply_updates(model, u), state, l


@eqx.filter_jit
def precision(model, feat, contacts, cfg):
    p = jax.nn.sigmoid(model(feat))
    if cfg.symmetrise:
        p = 0.5 * (p + p.T)
    i = jnp.arange(p.shape[0])
    far = jnp.abs(i[:, None] - i[None]) >= cfg.min_separation
    hit = (p > cfg.threshold) & far
    return (hit * contacts).sum() / jnp.maximum(hit.sum(), 1)


def observed(feat, contacts, resolved):
    """Restrict a chain to the residues that were resolved in the experiment."""
    idx = jnp.flatnonzero(resolved)
    sub = jnp.ix_(idx, idx)
    return feat[idx], contacts[sub], jnp.ones((idx.size, idx.size), jnp.float32)


def validate(model, held_out):
    cfg = Settings.load("eval")
    return float(np.mean([precision(model, f, c, cfg) for f, c, _ in held_out]))


def main(steps=30):
    src = Folds(3)
    held_out = [Folds(50 + i).chain() for i in range(3)]
    model = Pairwise(AA + 3, 8, jax.random.PRNGKey(0))
    state = opt.init(eqx.filter(model, eqx.is_array))
    prec = []
    for s in range(steps):
        model, state, l = step(model, state, *observed(*map(jnp.asarray, src.chain())))
        if s % 10 == 0:
            prec.append(validate(model, held_out))
    print(f"loss {float(l):.3f} precision {prec[0]:.2f} -> {prec[-1]:.2f}")


if __name__ == "__main__":
    main()
