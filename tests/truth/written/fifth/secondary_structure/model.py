import flax.linen as nn
import jax.numpy as jnp


class GatedConv(nn.Module):
    width: int
    kernel: int
    dilation: int = 1

    @nn.compact
    def __call__(self, x, valid):
        h = nn.LayerNorm()(x)
        h = nn.Conv(2 * self.width, (self.kernel,), kernel_dilation=(self.dilation,))(h)
        value, gate = jnp.split(h, 2, axis=-1)
        return (x + value * nn.sigmoid(gate)) * valid[..., None]


class StructureNet(nn.Module):
    vocabulary: int
    width: int
    states: int

    @nn.compact
    def __call__(self, tokens, valid):
        x = nn.Embed(self.vocabulary, self.width)(tokens)
        for d in (1, 3):
            x = GatedConv(self.width, 5, d)(x, valid)
        return nn.Dense(self.states)(x)
