import jax
import jax.numpy as jnp

from graphs import ELEMENTS

HEADS = ("energy", "dipole")


def init(key, width=32, rounds=2):
    ks = iter(jax.random.split(key, 2 * rounds + 8))
    lin = lambda i, o: jax.random.normal(next(ks), (i, o)) / jnp.sqrt(i)
    return {
        "embed": jax.random.normal(next(ks), (ELEMENTS, width)),
        "msg": [lin(width, width) for _ in range(rounds)],
        "upd": [lin(2 * width, width) for _ in range(rounds)],
        "head": {h: lin(width, 1) for h in HEADS},
    }


def apply(p, g, n_graphs):
    h = p["embed"][g.species]
    for wm, wu in zip(p["msg"], p["upd"]):
        m = jax.nn.silu(h @ wm)[g.senders]
        agg = jax.ops.segment_sum(m, g.receivers, num_segments=h.shape[0])
        h = h + jnp.tanh(jnp.concatenate([h, agg], -1) @ wu)
    pooled = jax.ops.segment_sum(h, g.owner, num_segments=n_graphs + 1)[:n_graphs]
    return {k: (pooled @ w)[:, 0] for k, w in p["head"].items()}


def loss(p, g, n_graphs):
    pred = apply(p, g, n_graphs)
    terms = [jnp.mean((pred[k] - y) ** 2) for k, y in g.targets.items()]
    return sum(terms) / len(terms)
