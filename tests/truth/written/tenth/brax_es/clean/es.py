import functools

import jax
import jax.numpy as jnp
import optax
from jax.flatten_util import ravel_pytree


def policy_init(key, obs_size, act_size, hidden=16):
    k1, k2 = jax.random.split(key)
    return {"w1": 0.3 * jax.random.normal(k1, (obs_size, hidden)), "w2": 0.3 * jax.random.normal(k2, (hidden, act_size))}


def policy(params, obs):
    return jnp.tanh(obs @ params["w1"]) @ params["w2"]


def unroll(env, params, key, n_envs, length):
    s0 = env.reset(jax.random.split(key, n_envs))

    def body(s, _):
        s2 = env.step(s, policy(params, s.obs))
        return s2, s2.reward * (1.0 - s.done)

    _, rew = jax.lax.scan(body, s0, None, length=length)
    return rew.sum(0).mean()


def centered_rank(x):
    order = jnp.argsort(jnp.argsort(x))
    return order / (x.shape[0] - 1.0) - 0.5


def es_update(flat, opt_state, key, std, *, fitness, tx, pop):
    k1, k2 = jax.random.split(key)
    eps = jax.random.normal(k1, (pop // 2, flat.shape[0]))
    eps = jnp.concatenate([eps, -eps])
    scores = jax.vmap(lambda e: fitness(flat + std * e, k2))(eps)
    grad = -(centered_rank(scores) @ eps) / (pop * std)
    upd, opt_state = tx.update(grad, opt_state, flat)
    return optax.apply_updates(flat, upd), opt_state, scores.mean()


class Strategy:
    def __init__(self, env, key, pop=16, std=0.2, lr=0.05, length=30):
        self._tx = optax.adam(lr)
        params = policy_init(key, env.obs_size, env.act_size)
        self.flat, self.unflatten = ravel_pytree(params)
        self.opt_state = self._tx.init(self.flat)
        self._fitness = lambda flat, k: unroll(env, self.unflatten(flat), k, 4, length)
        self.noise = std
        bound = functools.partial(es_update, fitness=self._fitness, tx=self._tx, pop=pop)
        self._update = jax.jit(functools.update_wrapper(bound, es_update))

    def ask_tell(self, key):
        self.flat, self.opt_state, mean = self._update(self.flat, self.opt_state, key, jnp.float32(self.noise))
        return mean
