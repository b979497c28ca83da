import jax
import jax.numpy as jnp
from flax import nnx


class Tower(nnx.Module):
    def __init__(self, vocab, dim, *, rngs):
        self.table = nnx.Embed(vocab, dim, rngs=rngs)
        self.proj = nnx.Linear(dim, dim, rngs=rngs)
        self.visits = 0

    def bump(self, n):
        self.visits += n

    def __call__(self, ids):
        return jnp.tanh(self.proj(self.table(ids)))


class TwoTower(nnx.Module):
    def __init__(self, n_users, n_items, dim, *, rngs):
        self.users = Tower(n_users, dim, rngs=rngs)
        self.items = Tower(n_items, dim, rngs=rngs)
        self.ctx = nnx.Linear(4, dim, rngs=rngs)
        self.scale = nnx.Param(jnp.full((), 2.0, jnp.float32))

    def score(self, batch):
        u = self.users(batch["user"])
        if "session" in batch:
            u = u + self.ctx(batch["session"])
        return self.scale[...] * u @ self.items(batch["item"]).T


def in_batch_loss(model, batch):
    logits = model.score(batch)
    logp = jax.nn.log_softmax(logits, axis=-1)
    return -jnp.mean(jnp.diagonal(logp) * batch["weight"])
