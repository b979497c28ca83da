import flax.linen as nn
import jax
import jax.numpy as jnp


def time_embedding(t, dim=16):
    freqs = jnp.exp(-jnp.arange(dim // 2) * 0.5)
    ang = t[:, None] * freqs[None]
    return jnp.concatenate([jnp.sin(ang), jnp.cos(ang)], -1)


class Residual(nn.Module):
    width: int
    drop: float

    @nn.compact
    def __call__(self, h, temb):
        r = nn.LayerNorm()(h)
        r = nn.silu(nn.Dense(self.width)(r) + nn.Dense(self.width)(temb))
        r = nn.Dropout(self.drop, deterministic=False)(r)
        return h + nn.Dense(self.width)(r)


class Denoiser(nn.Module):
    features: int = 6
    width: int = 48
    depth: int = 2
    drop: float = 0.0

    @nn.compact
    def __call__(self, x, t):
        temb = time_embedding(t)
        h = nn.Dense(self.width)(x)
        for _ in range(self.depth):
            h = Residual(self.width, self.drop)(h, temb)
        return nn.Dense(self.features)(nn.LayerNorm()(h))
