import jax
import jax.numpy as jnp
import optax
from flax import nnx


class QNet(nnx.Module):
    def __init__(self, obs_dim, n_actions, width, *, rngs):
        self.trunk = nnx.Linear(obs_dim, width, rngs=rngs)
        self.adv = nnx.Linear(width, n_actions, rngs=rngs)
        self.val = nnx.Linear(width, 1, rngs=rngs)

    def __call__(self, x):
        h = nnx.relu(self.trunk(x))
        a = self.adv(h)
        return self.val(h) + a - a.mean(-1, keepdims=True)


def huber(x):
    return optax.huber_loss(x, jnp.zeros_like(x))


@nnx.jit
def td_step(online, target, opt, batch, gamma):
    best = jnp.argmax(online(batch["nxt"]), -1)
    boot = jnp.take_along_axis(target(batch["nxt"]), best[:, None], 1)[:, 0]
    goal = batch["rew"] + gamma * (1.0 - batch["end"]) * boot

    def loss_fn(m):
        q = jnp.take_along_axis(m(batch["obs"]), batch["act"][:, None], 1)[:, 0]
        td = jax.lax.stop_gradient(goal) - q
        per_row = huber(td)
        if "weight" in batch:
            per_row = per_row * batch["weight"]
        return per_row.mean(), td

    (loss, td), grads = nnx.value_and_grad(loss_fn, has_aux=True)(online)
    opt.update(online, grads)
    return loss, td


@nnx.jit
def greedy(online, obs):
    return jnp.argmax(online(obs), -1)


@nnx.jit
def coverage(online, data):
    q = online(data["obs"])
    taken = jnp.take_along_axis(q, data["act"][:, None], 1)[:, 0]
    return {"gap": (q.max(-1) - taken).mean(), "qmax": q.max()}
