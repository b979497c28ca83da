from typing import NamedTuple

import haiku as hk
import jax
import jax.numpy as jnp
import numpy as np
import optax


class Core(hk.Module):
    def __init__(self, n_actions, name=None):
        super().__init__(name)
        self.gru = hk.GRU(12)
        self.pi, self.v = hk.Linear(n_actions), hk.Linear(1)

    def initial(self):
        return self.gru.initial_state(None)

    def __call__(self, o, h):
        y, h = self.gru(o, h)
        return (self.pi(y), self.v(y)[0]), h


class Fns(NamedTuple):
    init: callable
    step: callable
    unroll: callable


def build(n_actions):
    def f():
        core = Core(n_actions)

        def init(o):
            return core(o, core.initial())

        def step(o, h):
            return core(o, h)

        def unroll(obs):
            out, h = hk.dynamic_unroll(core, obs, core.initial())
            return out, h
        return init, Fns(init, step, unroll)
    t = hk.without_apply_rng(hk.multi_transform(f))
    return t.init, t.apply


class Agent:
    def __init__(self, obs_dim, n_actions, seed=0, gamma=0.97):
        init, self.fns = build(n_actions)
        self.tx = optax.rmsprop(7e-3, decay=0.95)
        self.params = jax.jit(init)(jax.random.PRNGKey(seed), np.zeros(obs_dim, np.float32))
        self.opt = self.tx.init(self.params)
        self.gamma = gamma
        self.g = np.random.default_rng(seed)
        self._step = jax.jit(self.fns.step)
        self._learn = jax.jit(self._learn_impl)

    # acting -------------------------------------------------------------
    def start(self):
        self.h = np.zeros(12, np.float32)

    def __call__(self, o):
        (logits, _), self.h = self._step(self.params, o, self.h)
        p = np.exp(np.asarray(logits, np.float64))
        return int(self.g.choice(len(p), p=p / p.sum()))

    # learning -----------------------------------------------------------
    def _learn_impl(self, params, opt, traj):
        def loss(params):
            (logits, v), h = self.fns.unroll(params, traj["obs"])
            tail = 0.0
            if traj["bootstrap"] is not None:
                (_, tail), _ = self.fns.step(params, traj["bootstrap"], h)
                tail = jax.lax.stop_gradient(tail)

            def back(c, r):
                c = r + self.gamma * c
                return c, c

            _, ret = jax.lax.scan(back, jnp.float32(tail), traj["rew"], reverse=True)
            adv = ret - v
            logp = jnp.take_along_axis(jax.nn.log_softmax(logits), traj["act"][:, None], 1)[:, 0]
            return (-logp * jax.lax.stop_gradient(adv) + 0.5 * adv ** 2).mean()

        l, g = jax.value_and_grad(loss)(params)
        up, opt = self.tx.update(g, opt)
        return optax.apply_updates(params, up), opt, l

    def learn(self, traj):
        self.params, self.opt, l = self._learn(self.params, self.opt, traj)
        return l
