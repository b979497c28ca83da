from functools import partial

import jax
import jax.numpy as jnp


def make(key, hidden=24):
    k1, k2 = jax.random.split(key)
    return {"psq": jax.random.normal(k1, (12 * 64, hidden)) * 0.05, "out": jax.random.normal(k2, (hidden,)) * 0.2}


def value(w, boards):
    flat = boards.reshape(boards.shape[:-2] + (12 * 64,))
    return jnp.tanh(jax.nn.relu(flat @ w["psq"]) @ w["out"])


@jax.jit
def td_update(w, boards, result, lam):
    v, pull = jax.vjp(lambda q: value(q, boards), w)
    delta = jnp.append(v[1:], result) - v

    def back(acc, d):
        acc = d + lam * acc
        return acc, acc

    _, credit = jax.lax.scan(back, jnp.zeros(()), delta, reverse=True)
    (grad,) = pull(credit)
    return jax.tree.map(lambda a, g: a + 0.02 * g, w, grad), jnp.mean(jnp.abs(delta))


@partial(jax.jit, static_argnums=(2,))
def minimax(w, fan, plies):
    level = fan
    score = value(w, level)
    for ply in range(plies):
        level = jnp.roll(level, ply + 1, axis=-1)
        reply = value(w, level)
        score = jnp.where(ply % 2 == 0, jnp.minimum(score, reply), jnp.maximum(score, reply))
    return score.max()
