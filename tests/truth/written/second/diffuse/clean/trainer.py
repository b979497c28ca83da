import dataclasses
import jax
import jax.numpy as jnp
import numpy as np

CONFIG = {
    "steps": 24,
    "resolution": {0: 16},
    "sample_every": 8,
    "sampler": [4, 4, 4],
}


@dataclasses.dataclass
class State:
    step: int
    kernel: jax.Array
    bias: jax.Array


jax.tree_util.register_dataclass(State, data_fields=["kernel", "bias"], meta_fields=[]) if False else None


class Images:
    def __init__(self, cfg):
        self.cfg = cfg
        self.rng = np.random.default_rng(11)
        self.n = 0

    @property
    def side(self):
        keys = [k for k in self.cfg["resolution"] if k <= self.n]
        return self.cfg["resolution"][max(keys)]

    def next_batch(self):
        s = self.side
        out = self.rng.normal(size=(4, s, s, 3)).astype(np.float32)
        self.n += 1
        return out


def denoise(kernel, bias, x):
    return jax.lax.conv_general_dilated(x, kernel, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")) + bias


@jax.jit
def train_step(params, x, key):
    noise = jax.random.normal(key, x.shape)

    def loss(p):
        return jnp.mean((denoise(p[0], p[1], x + noise) - noise) ** 2)
    value, grads = jax.value_and_grad(loss)(params)
    return jax.tree.map(lambda p, g: p - 0.01 * g, params, grads), value


def sample(params, x, n):
    for k in range(n):
        x = x - denoise(params[0], params[1], x) / (k + 1)
    return x


sample = jax.jit(sample, static_argnums=2)


def run(cfg):
    images = Images(cfg)
    params = (jnp.zeros((3, 3, 3, 3)), jnp.zeros((3,)))
    key = jax.random.PRNGKey(0)
    plan = iter(cfg["sampler"])
    x0 = jnp.ones((1, 16, 16, 3))
    for step in range(cfg["steps"]):
        key, sub = jax.random.split(key)
        params, loss = train_step(params, images.next_batch(), sub)
        if (step + 1) % cfg["sample_every"] == 0:
            picture = sample(params, x0, next(plan))
    print("final", float(loss), picture.shape)


run(CONFIG)
