from functools import partial
import jax, jax.numpy as jnp
import numpy as np
from settings import Settings


class Cropper:
    def __init__(self, cfg):
        self.cfg = cfg
        self._fn = jax.jit(self._take, static_argnums=(1,))

    def _take(self, seq, start):
        return jax.lax.dynamic_slice_in_dim(seq, start, self.cfg.crop, 1)

    _take.__name__ = "crop"

    def __call__(self, seq, i):
        first = (i * 7) % (self.cfg.residues - self.cfg.crop)
        return self._fn(seq, first)


def block(p, z):
    return z + jnp.tanh(z @ p)


@partial(jax.jit, static_argnums=(2,), donate_argnums=0)
def train_step(p, x, rounds):
    def loss(p):
        z = jax.nn.one_hot(x, 8)
        for _ in range(rounds):
            z = block(p, z)
        return jnp.mean(z ** 2)
    return p - 0.05 * jax.grad(loss)(p)


def main(cfg=Settings()):
    seq = np.random.default_rng(0).integers(0, 8, (2, cfg.residues)).astype(np.int32)
    seq = jnp.asarray(seq)
    p = jnp.eye(8) * 0.1
    crop = Cropper(cfg)
    crop._fn = jax.jit(crop._take)
    for i in range(cfg.steps):
        r = cfg.recycling.draw()
        p = train_step(p, crop(seq, i if i > 9 else 0), r)
    return p


main()
