import flax.linen as nn
import jax.numpy as jnp


class Block(nn.Module):
    width: int
    drop: float

    @nn.compact
    def __call__(self, x, train):
        y = nn.LayerNorm()(x)
        y = nn.Dense(2 * self.width)(y)
        y = nn.silu(y)
        y = nn.Dropout(self.drop, deterministic=not train)(y)
        return x + nn.Dense(self.width)(y)


class Classifier(nn.Module):
    classes: int
    width: int = 24
    depth: int = 2
    drop: float = 0.1

    @nn.compact
    def __call__(self, x, train=False):
        x = nn.Dense(self.width)(x.reshape((x.shape[0], -1)))
        for _ in range(self.depth):
            x = Block(self.width, self.drop)(x, train)
        return nn.Dense(self.classes)(nn.LayerNorm()(x).astype(jnp.float32))
