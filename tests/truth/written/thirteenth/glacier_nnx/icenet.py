import jax.numpy as jnp
from flax import nnx


class IceNet(nnx.Module):
    def __init__(self, rngs):
        self.a = nnx.Linear(12, 24, use_bias=False, rngs=rngs)
        self.norm = nnx.BatchNorm(24, rngs=rngs)
        self.drop = nnx.Dropout(0.1, rngs=rngs)
        self.b = nnx.Linear(24, 1, rngs=rngs)

    def __call__(self, x):
        x = x.astype(jnp.float32)
        x = x / (jnp.std(x) + 1e-6)
        return self.b(self.drop(nnx.relu(self.norm(self.a(x)))))[:, 0]


def mse(net, tile, thick):
    return jnp.mean((net(tile) - thick) ** 2)


@nnx.jit
def train_step(net, opt, tile, thick):
    loss, g = nnx.value_and_grad(mse)(net, tile, thick)
    opt.update(net, g)
    return loss


@nnx.jit
def score(net, tile, thick):
    return mse(net, tile, thick)
