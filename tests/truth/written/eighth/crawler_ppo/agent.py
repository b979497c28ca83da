import jax
import jax.numpy as jnp
from flax import nnx


class ActorCritic(nnx.Module):
    def __init__(self, rngs):
        self.body = nnx.Linear(2, 32, rngs=rngs)
        self.pi = nnx.Linear(32, 4, rngs=rngs)
        self.v = nnx.Linear(32, 1, rngs=rngs)
        self.mode = "explore"

    def __call__(self, obs):
        h = jnp.tanh(self.body(obs))
        return self.pi(h), self.v(h)[..., 0]

    def choose(self, obs, key):
        logits, value = self(obs)
        if self.mode == "explore":
            a = jax.random.categorical(key, logits)
        else:
            a = jnp.argmax(logits, -1)
        return a, jnp.take_along_axis(jax.nn.log_softmax(logits), a[..., None], -1)[..., 0], value


@nnx.jit
def act(agent, obs, key):
    return agent.choose(obs, key)


@nnx.jit
def learn(agent, optimizer, roll, ret_scale, ent_coef):
    ret = roll["ret"] / ret_scale

    def surrogate(m):
        logits, value = m(roll["obs"])
        logp = jax.nn.log_softmax(logits)
        taken = jnp.take_along_axis(logp, roll["act"][..., None], -1)[..., 0]
        adv = ret - jax.lax.stop_gradient(value)
        ratio = jnp.exp(taken - roll["logp"])
        clipped = jnp.clip(ratio, 0.8, 1.2)
        entropy = -jnp.sum(jnp.exp(logp) * logp, -1)
        return jnp.mean(-jnp.minimum(ratio * adv, clipped * adv) + 0.5 * (ret - value) ** 2 - ent_coef * entropy)

    loss, grads = nnx.value_and_grad(surrogate)(agent)
    optimizer.update(agent, grads)
    return loss, 0.9 * ret_scale + 0.1 * jnp.std(roll["ret"])
