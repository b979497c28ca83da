from functools import partial

import jax
import jax.numpy as jnp


def init_params(key, dims):
    ks = jax.random.split(key, len(dims) - 1)
    return [{"w": jax.random.normal(k, (a, b)) * (a ** -0.5), "b": jnp.zeros(b)}
            for k, a, b in zip(ks, dims[:-1], dims[1:])]


def q_values(params, x):
    for layer in params[:-1]:
        x = jax.nn.relu(x @ layer["w"] + layer["b"])
    return x @ params[-1]["w"] + params[-1]["b"]


@jax.jit
def act(params, obs, key, greedy_from):
    k1, k2 = jax.random.split(key)
    q = q_values(params, obs)
    rand = jax.random.randint(k1, (), 0, q.shape[-1])
    return jnp.where(jax.random.uniform(k2) < greedy_from, rand, jnp.argmax(q))


@partial(jax.jit, static_argnames=("n",))
def draw(key, weights, n):
    logits = jnp.where(weights > 0, jnp.log(weights + 1e-6), -jnp.inf)
    return jax.random.categorical(key, logits, shape=(n,))


@jax.jit
def learn(params, target, batch, gamma, lr):
    o, a, r, o2 = batch

    def loss(p):
        q = jnp.take_along_axis(q_values(p, o), a[:, None], axis=1)[:, 0]
        td = r + gamma * q_values(target, o2).max(-1) - q
        return jnp.mean(td ** 2), td

    (val, td), g = jax.value_and_grad(loss, has_aux=True)(params)
    return jax.tree.map(lambda p, d: p - lr * d, params, g), val, td


class Explorer:
    def __init__(self, start=0.9, decay=0.8, floor=0.05):
        self.start, self.decay, self.floor = start, decay, floor
        self.episodes = 0

    @property
    def rate(self):
        return max(self.floor, self.start * self.decay ** self.episodes)

    def finish_episode(self):
        self.episodes += 1


class Agent:
    def __init__(self, obs_dim, n_act, seed=0):
        self.key = jax.random.PRNGKey(seed)
        self.params = init_params(self.key, (obs_dim, 24, n_act))
        self.target = self.params
        self.explorer = Explorer()
        self.updates = 0

    def choose(self, obs):
        self.key, sub = jax.random.split(self.key)
        a = act(self.params, obs, sub, greedy_from=self.explorer.rate)
        return int(a)

    def update(self, memory, n, gamma, lr):
        self.key, sub = jax.random.split(self.key)
        idx = draw(sub, memory.weights(), n)
        self.params, val, td = learn(self.params, self.target, memory.take(idx), gamma, lr)
        memory.reprioritise(idx, td)
        self.updates += 1
        if self.updates % 4 == 0:
            self.target = self.params
        return float(val)
