import flax.linen as nn
import jax
import jax.numpy as jnp


class Tagger(nn.Module):
    vocab: int
    tags: int
    dim: int = 32

    @nn.compact
    def __call__(self, tokens, drop=None):
        x = nn.Embed(self.vocab, self.dim)(tokens)
        left = jnp.pad(x, ((0, 0), (1, 0), (0, 0)))[:, :-1]
        x = jnp.concatenate([x, left], axis=-1)
        x = nn.gelu(nn.Dense(self.dim)(x))
        if drop is not None:
            keep = jax.random.bernoulli(self.make_rng("dropout"), 1.0 - drop, x.shape)
            x = jnp.where(keep, x / (1.0 - drop), 0.0)
        x = nn.LayerNorm()(x)
        return nn.Dense(self.tags)(x)
