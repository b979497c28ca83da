import haiku as hk
import jax
import jax.numpy as jnp
import optax


def q_network(obs):
    return hk.nets.MLP([48, 48, 4], activation=jax.nn.relu)(obs)


class Agent:
    def __init__(self, obs_dim, seed=0, gamma=0.95):
        self.net = hk.without_apply_rng(hk.transform(q_network))
        self.tx = optax.chain(optax.clip(1.0), optax.rmsprop(2e-3))
        self.gamma = gamma
        self.params = self.net.init(jax.random.PRNGKey(seed), jnp.zeros((1, obs_dim)))
        self.target = self.params
        self.opt_state = self.tx.init(self.params)
        self.learn = jax.jit(self._learn)
        self.epsilon = 1.0

    @property
    def epsilon(self):
        return self._epsilon

    @epsilon.setter
    def epsilon(self, value):
        self._epsilon = value

        def act(params, key, obs):
            q = self.net.apply(params, obs[None])[0]
            k1, k2 = jax.random.split(key)
            explore = jax.random.uniform(k1) < value
            return jnp.where(explore, jax.random.randint(k2, (), 0, 4), q.argmax())

        self.act = jax.jit(act)

    def _learn(self, params, target, opt_state, batch):
        def loss_fn(p):
            q = jnp.take_along_axis(self.net.apply(p, batch["obs"]), batch["action"][:, None], 1)[:, 0]
            best = self.net.apply(target, batch["next_obs"]).max(-1)
            td = batch["reward"] + self.gamma * (1 - batch["done"]) * best - q
            return jnp.mean(batch.get("weight", 1.0) * optax.huber_loss(td)), td
        grads, td = jax.grad(loss_fn, has_aux=True)(params)
        upd, opt_state = self.tx.update(grads, opt_state)
        return optax.apply_updates(params, upd), opt_state, td

    def sync(self):
        self.target = self.params
