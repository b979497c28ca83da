import flax.linen as nn
import jax.numpy as jnp


class Tagger(nn.Module):
    vocab: int
    tags: int
    dim: int = 32
    drop: float = 0.0

    @nn.compact
    def __call__(self, tokens, deterministic=True):
        x = nn.Embed(self.vocab, self.dim)(tokens)
        left = jnp.pad(x, ((0, 0), (1, 0), (0, 0)))[:, :-1]
        x = jnp.concatenate([x, left], axis=-1)
        x = nn.gelu(nn.Dense(self.dim)(x))
        x = nn.Dropout(self.drop)(x, deterministic=deterministic)
        x = nn.LayerNorm()(x)
        return nn.Dense(self.tags)(x)
