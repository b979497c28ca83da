import haiku as hk
import jax
import jax.numpy as jnp
import optax

from elevator import CARS


def policy(frames):
    """frames: list of feature vectors, oldest first."""
    x = jnp.stack(frames)
    age = jnp.linspace(0.0, 1.0, x.shape[0])[:, None]
    seen = jnp.any(x != 0.0, axis=1, keepdims=True)
    h = hk.Linear(16, name="frame")(jnp.concatenate([x, age], 1))
    w = jax.nn.softmax(jnp.where(seen, hk.Linear(1, name="attend")(h), -1e9), axis=0)
    return hk.Linear(CARS, name="car")(jnp.tanh(jnp.sum(w * h, 0)))


net = hk.without_apply_rng(hk.transform(policy))
tx = optax.rmsprop(1e-2)


@jax.jit
def act(params, key, frames):
    logits = net.apply(params, frames)
    return jax.random.categorical(key, logits), jax.nn.softmax(logits)


@jax.jit
def reinforce(params, opt_state, frames, car, advantage, entropy_bonus):
    def surrogate(p):
        logp = jax.nn.log_softmax(net.apply(p, frames))
        return -advantage * logp[car] + entropy_bonus * jnp.sum(jnp.exp(logp) * logp)

    grads = jax.grad(surrogate)(params)
    updates, opt_state = tx.update(grads, opt_state)
    return optax.apply_updates(params, updates), opt_state
