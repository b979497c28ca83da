from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import optax


class Storage(NamedTuple):
    obs: jax.Array
    actions: jax.Array
    logprobs: jax.Array
    values: jax.Array
    rewards: jax.Array
    dones: jax.Array


def init_agent(key, obs_dim, n_actions, hidden):
    k1, k2, k3 = jax.random.split(key, 3)
    return {
        "torso": jax.random.normal(k1, (obs_dim, hidden)) * 0.5,
        "pi": jax.random.normal(k2, (hidden, n_actions)) * 0.01,
        "v": jax.random.normal(k3, (hidden, 1)) * 0.1,
    }


def forward(params, obs):
    h = jnp.tanh(obs @ params["torso"])
    return h @ params["pi"], (h @ params["v"])[..., 0]


@jax.jit
def act(params, obs, key):
    logits, value = forward(params, obs)
    action = jax.random.categorical(key, logits)
    logp = jnp.take_along_axis(jax.nn.log_softmax(logits), action[:, None], 1)[:, 0]
    return action, logp, value


@jax.jit
def compute_gae(store, last_value, gamma, lam):
    def body(carry, row):
        adv, nxt = carry
        r, d, v = row
        delta = r + gamma * nxt * (1.0 - d) - v
        adv = delta + gamma * lam * (1.0 - d) * adv
        return (adv, v), adv

    init = (jnp.zeros_like(last_value), last_value)
    _, adv = jax.lax.scan(body, init, (store.rewards, store.dones, store.values), reverse=True)
    return adv, adv + store.values


def make_tx(args):
    return optax.chain(optax.clip_by_global_norm(args.max_grad_norm), optax.adam(args.learning_rate))


@partial(jax.jit, static_argnames="args")
def update_ppo(params, opt_state, store, adv, ret, ent_coef, *, args):
    def loss_fn(p):
        logits, value = forward(p, store.obs)
        logits = jax.nn.log_softmax(logits)
        logp = jnp.take_along_axis(logits, store.actions[..., None], -1)[..., 0]
        ratio = jnp.exp(logp - store.logprobs)
        norm = (adv - adv.mean()) / (adv.std() + 1e-8)
        pg = -jnp.minimum(ratio * norm, jnp.clip(ratio, 1 - args.clip_coef, 1 + args.clip_coef) * norm).mean()
        v_loss = 0.5 * jnp.square(value - ret).mean()
        entropy = -(jnp.exp(logits) * logits).sum(-1).mean()
        return pg - ent_coef * entropy + args.vf_coef * v_loss, entropy

    for _ in range(args.update_epochs):
        (loss, ent), grads = jax.value_and_grad(loss_fn, has_aux=True)(params)
        updates, opt_state = make_tx(args).update(grads, opt_state)
        params = optax.apply_updates(params, updates)
    return params, opt_state, loss, ent


@jax.jit
def summarise(returns, ended):
    n = jnp.maximum(ended.sum(), 1)
    mean = jnp.where(ended, returns, 0.0).sum() / n
    var = jnp.where(ended, jnp.square(returns - mean), 0.0).sum() / n
    return {"mean": mean, "max": jnp.where(ended, returns, 0.0).max(), "std": jnp.sqrt(var)}
