import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax.training.train_state import TrainState

from callbacks import LogLR, PlateauLR, SampleQuality
from ema import ExponentialMovingAverage
from sde import VPSDE, make_sampler

SDE = VPSDE()


class ScoreNet(nn.Module):
    width: int = 32

    @nn.compact
    def __call__(self, x, t):
        freq = 2.0 ** jnp.arange(4)
        emb = jnp.concatenate([jnp.sin(t[:, None] * freq), jnp.cos(t[:, None] * freq)], -1)
        h = nn.swish(nn.Dense(self.width)(x) + nn.Dense(self.width)(emb))
        h = nn.swish(nn.Dense(self.width)(h))
        return nn.Dense(2)(h)


@jax.jit
def train_step(state, x, key):
    k1, k2 = jax.random.split(key)
    t = jax.random.uniform(k1, (x.shape[0],), minval=1e-2)
    mean, std = SDE.marginal(t)
    z = jax.random.normal(k2, x.shape)

    def loss_fn(p):
        s = state.apply_fn({"params": p}, mean[:, None] * x + std[:, None] * z, t)
        return jnp.square(s * std[:, None] + z).sum(-1).mean()

    loss, grads = jax.value_and_grad(loss_fn)(state.params)
    return state.apply_gradients(grads=grads), loss


class Trainer:
    def __init__(self, callbacks, lr, seed=0):
        net = ScoreNet()
        self.key = jax.random.PRNGKey(seed)
        params = net.init(self.key, jnp.zeros((1, 2)), jnp.zeros((1,)))["params"]
        self.state = TrainState.create(apply_fn=net.apply, params=params, tx=optax.adam(lr))
        self.ema = ExponentialMovingAverage(params)
        self.sampler = make_sampler(SDE, net.apply)
        self.callbacks, self.epoch, self.last = callbacks, 0, 0.0

    def next_key(self):
        self.key, sub = jax.random.split(self.key)
        return sub

    def fit(self, batches, epochs):
        for self.epoch in range(1, epochs + 1):
            for x in batches():
                self.state, loss = train_step(self.state, x, self.next_key())
                self.ema.update(self.state.params)
                for cb in self.callbacks:
                    cb.after_step(self, loss)
            self.last = float(loss)
            for cb in self.callbacks:
                cb.after_epoch(self)


def ring_data(n=48, batch=16, seed=2):
    ang = np.random.default_rng(seed).uniform(0, 2 * np.pi, n)
    pts = np.stack([np.cos(ang), np.sin(ang)], 1).astype(np.float32) * 1.5

    def batches():
        for i in range(0, n, batch):
            yield pts[i : i + batch]

    return batches


if __name__ == "__main__":
    lr = 4e-3
    plateau = PlateauLR(lr)
    Trainer([plateau, SampleQuality(total=40, batch=16, every=4), LogLR(plateau)], lr).fit(ring_data(), epochs=8)
