import jax
import jax.numpy as jnp
from flax import nnx


class Tower(nnx.Module):
    def __init__(self, n_ids, dim, *, rngs):
        self.table = nnx.Embed(n_ids, dim, rngs=rngs)
        self.proj = nnx.Linear(dim, dim, rngs=rngs)

    def __call__(self, ids):
        h = nnx.relu(self.proj(self.table(ids)))
        return h / (jnp.linalg.norm(h, axis=-1, keepdims=True) + 1e-6)


class Retrieval(nnx.Module):
    def __init__(self, n_users, n_items, dim, *, rngs):
        self.users = Tower(n_users, dim, rngs=rngs)
        self.items = Tower(n_items, dim, rngs=rngs)
        self.scale = nnx.Param(jnp.float32(5.0))
        self.n_items = n_items

    def __call__(self, user, item):
        return self.users(user) @ self.items(item).T * self.scale[...]

    def scores(self, user):
        every = self.items(jnp.arange(self.n_items))
        return self.users(user) @ every.T


def in_batch_softmax(model, user, item):
    logits = model(user, item)
    return -jnp.mean(jnp.diagonal(jax.nn.log_softmax(logits)))
