import jax
import jax.numpy as jnp
from flax import nnx


class ActorCritic(nnx.Module):
    def __init__(self, rngs):
        self.body = nnx.Linear(2, 32, rngs=rngs)
        self.pi = nnx.Linear(32, 4, rngs=rngs)
        self.v = nnx.Linear(32, 1, rngs=rngs)

    def __call__(self, obs):
        h = jnp.tanh(self.body(obs))
        return self.pi(h), self.v(h)[..., 0]

    def choose(self, obs, key, greedy):
        logits, value = self(obs)
        a = jnp.where(greedy, jnp.argmax(logits, -1), jax.random.categorical(key, logits))
        return a, jnp.take_along_axis(jax.nn.log_softmax(logits), a[..., None], -1)[..., 0], value


@nnx.jit
def act(agent, obs, key, greedy):
    return agent.choose(obs, key, greedy)


@nnx.jit
def learn(agent, optimizer, roll, ret_scale, ent_coef):
    ret, valid = roll["ret"] / ret_scale, roll["valid"]

    def surrogate(m):
        logits, value = m(roll["obs"])
        logp = jax.nn.log_softmax(logits)
        taken = jnp.take_along_axis(logp, roll["act"][..., None], -1)[..., 0]
        adv = ret - jax.lax.stop_gradient(value)
        ratio = jnp.exp(taken - roll["logp"])
        clipped = jnp.clip(ratio, 0.8, 1.2)
        entropy = -jnp.sum(jnp.exp(logp) * logp, -1)
        each = -jnp.minimum(ratio * adv, clipped * adv) + 0.5 * (ret - value) ** 2 - ent_coef * entropy
        return jnp.sum(each * valid) / jnp.sum(valid)

    loss, grads = nnx.value_and_grad(surrogate)(agent)
    optimizer.update(agent, grads)
    return loss, 0.9 * ret_scale + 0.1 * jnp.std(roll["ret"], where=valid > 0)
