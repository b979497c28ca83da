import equinox as eqx
import jax
import jax.numpy as jnp


class Block(eqx.Module):
    norm: eqx.nn.LayerNorm
    attn: eqx.nn.MultiheadAttention
    up: eqx.nn.Linear
    down: eqx.nn.Linear

    def __init__(self, dim, heads, *, key):
        k = jax.random.split(key, 3)
        self.norm = eqx.nn.LayerNorm(dim)
        self.attn = eqx.nn.MultiheadAttention(heads, dim, key=k[0])
        self.up = eqx.nn.Linear(dim, 2 * dim, key=k[1])
        self.down = eqx.nn.Linear(2 * dim, dim, key=k[2])

    def __call__(self, x, mask):
        h = jax.vmap(self.norm)(x)
        x = x + self.attn(h, h, h, mask=mask)
        return x + jax.vmap(lambda r: self.down(jax.nn.gelu(self.up(r))))(x)


class Tagger(eqx.Module):
    embed: eqx.nn.Embedding
    blocks: list
    head: eqx.nn.Linear

    def __init__(self, vocab, dim, depth, classes, *, key):
        k = jax.random.split(key, depth + 2)
        self.embed = eqx.nn.Embedding(vocab, dim, key=k[0])
        self.blocks = [Block(dim, 2, key=q) for q in k[1:-1]]
        self.head = eqx.nn.Linear(dim, classes, key=k[-1])

    def __call__(self, tokens, valid):
        x = jax.vmap(self.embed)(tokens)
        mask = valid[None, :] & jnp.ones((len(tokens), 1), bool)
        for b in self.blocks:
            x = b(x, mask)
        return jax.vmap(self.head)(x)


def thaw_spec(model, depth):
    """Boolean tree: the head and the `depth` topmost blocks are trainable."""
    spec = jax.tree.map(lambda _: False, model)
    groups = [lambda m: m.head] + [lambda m, i=i: m.blocks[i] for i in reversed(range(len(model.blocks)))]
    for where in groups[: depth + 1]:
        on = jax.tree.map(eqx.is_inexact_array, where(model))
        spec = eqx.tree_at(where, spec, on)
    return spec
