from functools import partial

import jax
import jax.numpy as jnp
import optax

FRAME = 1 / 30
opt = optax.rmsprop(2e-3)


def new_brain(key, n_in=6, n_hidden=24, n_out=2):
    a, b = jax.random.split(key)
    return {"in": jax.random.normal(a, (n_in, n_hidden)) * 0.3, "out": jax.random.normal(b, (n_hidden, n_out)) * 0.3}


def think(brain, me, foe):
    x = jnp.concatenate([me, foe[:2]], -1)
    return jnp.tanh(jnp.tanh(x @ brain["in"]) @ brain["out"])


@partial(jax.jit, static_argnums=2)
def simulate(pos, vel, chunks):
    h = FRAME / chunks
    for _ in range(chunks):
        spring = -4.0 * pos
        vel = (vel + h * spring) * (1.0 - 0.4 * h)
        pos = pos + h * vel
    return pos, vel


def bout(brain, rival, me, foe):
    def tick(carry, _):
        m, f = carry
        am, af = think(brain, m, f), think(rival, f, m)
        m = jnp.concatenate([m[:2] + FRAME * m[2:], m[2:] + FRAME * am])
        f = jnp.concatenate([f[:2] + FRAME * f[2:], f[2:] + FRAME * af])
        return (m, f), -jnp.sum((m[:2] - f[:2]) ** 2)

    _, gain = jax.lax.scan(tick, (me, foe), None, length=12)
    return gain.mean()


@jax.jit
def learn(brain, opt_state, rivals, spawn):
    def objective(b):
        total = 0.0
        for rival in rivals:
            total += jax.vmap(lambda s: bout(b, rival, s[0], s[1]))(spawn).mean()
        return -total / len(rivals)

    value, grads = jax.value_and_grad(objective)(brain)
    step, opt_state = opt.update(grads, opt_state, brain)
    return optax.apply_updates(brain, step), opt_state, value
