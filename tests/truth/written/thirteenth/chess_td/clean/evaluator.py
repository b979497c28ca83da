import jax
import jax.numpy as jnp


def make(key, hidden=24):
    k1, k2 = jax.random.split(key)
    return {"psq": jax.random.normal(k1, (12 * 64, hidden)) * 0.05, "out": jax.random.normal(k2, (hidden,)) * 0.2}


def value(w, boards):
    flat = boards.reshape(boards.shape[:-2] + (12 * 64,))
    return jnp.tanh(jax.nn.relu(flat @ w["psq"]) @ w["out"])


@jax.jit
def td_update(w, boards, plies, result, lam):
    v, pull = jax.vjp(lambda q: value(q, boards), w)
    at = jnp.arange(v.size)
    delta = jnp.where(at == plies - 1, result, jnp.roll(v, -1)) - v
    delta = jnp.where(at < plies, delta, 0.0)

    def back(acc, d):
        acc = d + lam * acc
        return acc, acc

    _, credit = jax.lax.scan(back, jnp.zeros(()), delta, reverse=True)
    (grad,) = pull(credit)
    return jax.tree.map(lambda a, g: a + 0.02 * g, w, grad), jnp.abs(delta).sum() / plies


@jax.jit
def minimax(w, fan, plies):
    def one(ply, carry):
        level, score = carry
        level = jnp.roll(level, ply + 1, axis=-1)
        reply = value(w, level)
        score = jnp.where(ply % 2 == 0, jnp.minimum(score, reply), jnp.maximum(score, reply))
        return level, score

    _, score = jax.lax.fori_loop(0, plies, one, (fan, value(w, fan)))
    return score.max()
