import collections
import random

import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import nnx

Step = collections.namedtuple("Step", "s a r s2 done")


class Replay:
    def __init__(self, capacity=500, seed=0):
        self._mem = collections.deque(maxlen=capacity)
        self._rng = random.Random(seed)

    def __len__(self):
        return len(self._mem)

    def push(self, *x):
        self._mem.append(Step(*x))

    def draw(self, k):
        rows = self._rng.choices(self._mem, k=k)
        return Step(*(np.asarray(c, np.int32 if f == "a" else np.float32)
                      for f, c in zip(Step._fields, zip(*rows))))


class Q(nnx.Module):
    def __init__(self, d, n, rngs):
        self.a = nnx.Linear(d, 32, rngs=rngs)
        self.b = nnx.Linear(32, n, rngs=rngs)

    def __call__(self, s):
        return self.b(nnx.relu(self.a(s)))


@nnx.jit
def act_values(q, s):
    return q(s)


@nnx.jit
def learn(q, target, opt, batch, robust):
    def loss(q):
        y = batch.r + 0.95 * (1 - batch.done) * target(batch.s2).max(-1)
        td = jnp.take_along_axis(q(batch.s), batch.a[:, None], 1)[:, 0] - jax.lax.stop_gradient(y)
        per = jnp.where(robust, optax.huber_loss(td, delta=0.5), 0.5 * td ** 2)
        return per.mean(), jnp.abs(td).max()

    (l, worst), g = nnx.value_and_grad(loss, has_aux=True)(q)
    opt.update(q, g)
    return l, worst


class Agent:
    def __init__(self, env, batch=24, seed=0):
        self.q = Q(env.obs_dim, env.n_actions, nnx.Rngs(seed))
        self.target = nnx.clone(self.q)
        self.opt = nnx.Optimizer(self.q, optax.adam(5e-3), wrt=nnx.Param)
        self.mem, self.batch = Replay(seed=seed), batch
        self.rng = np.random.default_rng(seed)
        self.worst = 0.0

    def act(self, s, eps):
        v = np.asarray(act_values(self.q, s[None]))[0]
        return int(self.rng.integers(len(v))) if self.rng.uniform() < eps else int(v.argmax())

    def improve(self):
        if len(self.mem) < 8:
            return None
        batch = self.mem.draw(self.batch)
        outlier = np.asarray(self.worst) > 3.0
        l, worst = learn(self.q, self.target, self.opt, batch, robust=outlier)
        self.worst = worst
        return l

    def sync(self):
        nnx.update(self.target, nnx.state(self.q))
