from typing import NamedTuple

import jax
import jax.numpy as jnp


class State(NamedTuple):
    q: jax.Array
    obs: jax.Array
    reward: jax.Array
    done: jax.Array
    steps: jax.Array


class Pendulum:
    obs_size, act_size = 3, 1

    def reset(self, rng):
        q = jax.random.uniform(rng, (2,), minval=-1.0, maxval=1.0)
        return State(q, self._obs(q), jnp.float32(0), jnp.float32(0), jnp.int32(0))

    def _obs(self, q):
        return jnp.stack([jnp.cos(q[0]), jnp.sin(q[0]), q[1]])

    def step(self, s, a):
        u = 2.0 * jnp.tanh(a[0])
        w = jnp.clip(s.q[1] + (15.0 * jnp.sin(s.q[0]) + 3.0 * u) * 0.05, -8, 8)
        q = jnp.stack([s.q[0] + w * 0.05, w])
        cost = jnp.square(q[0]) + 0.1 * jnp.square(w) + 0.001 * u**2
        return State(q, self._obs(q), -cost, s.done, s.steps + 1)


class Wrapper:
    def __init__(self, env):
        self.env = env

    def __getattr__(self, name):
        if name == "__setstate__":
            raise AttributeError(name)
        return getattr(self.env, name)

    def reset(self, rng):
        return self.env.reset(rng)

    def step(self, s, a):
        return self.env.step(s, a)


class Episode(Wrapper):
    def __init__(self, env, length):
        super().__init__(env)
        self.length = length

    def step(self, s, a):
        s = self.env.step(s, a)
        return s._replace(done=(s.steps >= self.length).astype(jnp.float32))


class Batched(Wrapper):
    def reset(self, rng):
        return jax.vmap(self.env.reset)(rng)

    def step(self, s, a):
        return jax.vmap(self.env.step)(s, a)


def wrap_for_training(env, length=30):
    return Batched(Episode(env, length))
