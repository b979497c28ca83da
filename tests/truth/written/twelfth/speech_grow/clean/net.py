import flax.linen as nn
import jax.numpy as jnp


class Block(nn.Module):
    width: int

    @nn.compact
    def __call__(self, x):
        h = nn.Conv(self.width, (3,))(nn.LayerNorm()(x))
        return x + nn.relu(h)


class Spotter(nn.Module):
    width: int = 12
    classes: int = 4
    depth: int = 4

    @nn.compact
    def __call__(self, x, active=4):
        x = nn.Dense(self.width)(x)
        for i in range(self.depth):
            x = jnp.where(i < active, Block(self.width, name=f"block{i}")(x), x)
        return nn.Dense(self.classes, name="head")(jnp.mean(x, axis=1))
