import dataclasses
from typing import NamedTuple

import haiku as hk
import jax
import jax.numpy as jnp
import numpy as np
import optax


@dataclasses.dataclass
class BonusScale:
    center: np.float32 = np.float32(0.0)
    spread: np.float32 = np.float32(1.0)

    def absorb(self, err):
        self.center = np.float32(0.9 * self.center + 0.1 * err.mean())
        self.spread = np.float32(0.9 * self.spread + 0.1 * err.std())


class Learner(NamedTuple):
    q: dict
    target: dict
    pred: dict
    opt: tuple


def q_net(obs):
    return hk.nets.MLP([32, 3])(obs)


def feat_net(obs):
    return hk.nets.MLP([16, 8])(obs)


class Agent:
    def __init__(self, obs_dim, seed=0):
        self.qf = hk.without_apply_rng(hk.transform(q_net))
        self.ff = hk.without_apply_rng(hk.transform(feat_net))
        k1, k2, k3 = jax.random.split(jax.random.key(seed), 3)
        dummy = np.zeros((1, obs_dim), np.float32)
        q = self.qf.init(k1, dummy)
        self.frozen = self.ff.init(k2, dummy)
        pred = self.ff.init(k3, dummy)
        self.tx = optax.adam(3e-3)
        self.state = Learner(q, q, pred, self.tx.init((q, pred)))
        self.scale = BonusScale()
        self.act_values = jax.jit(self.qf.apply)
        self.learn = jax.jit(self._learn)

    def _learn(self, st, frozen, batch, center, spread, mix):
        goal = self.ff.apply(frozen, batch.nxt)

        def loss_fn(both):
            q, pred = both
            err = jnp.mean((self.ff.apply(pred, batch.nxt) - goal) ** 2, -1)
            bonus = jax.lax.stop_gradient((err - center) / (spread + 1e-3))
            nxt = self.qf.apply(st.target, batch.nxt).max(-1)
            y = batch.rew + mix * bonus + 0.97 * (1.0 - batch.end) * nxt
            qa = jnp.take_along_axis(self.qf.apply(q, batch.obs), batch.act[:, None], 1)[:, 0]
            return jnp.mean(optax.huber_loss(qa, y)) + jnp.mean(err), err

        (loss, err), g = jax.value_and_grad(loss_fn, has_aux=True)((st.q, st.pred))
        up, opt = self.tx.update(g, st.opt)
        q, pred = optax.apply_updates((st.q, st.pred), up)
        return Learner(q, st.target, pred, opt), loss, err

    def update(self, batch, mix):
        s = self.scale
        self.state, loss, err = self.learn(
            self.state, self.frozen, batch, s.center, s.spread, mix
        )
        s.absorb(np.asarray(err))
        return float(loss)

    def sync(self):
        self.state = self.state._replace(target=self.state.q)
        self.scale = BonusScale()
