import jax
import jax.numpy as jnp
import optax
from flax import linen as nn
from flax.training.train_state import TrainState


class MaskNet(nn.Module):
    width: int = 32

    @nn.compact
    def __call__(self, mix, rng, drop):
        h = nn.relu(nn.Dense(self.width)(mix))
        keep = jax.random.bernoulli(rng, 1 - drop, h.shape)
        h = jnp.where(keep, h / (1 - drop), 0.0)
        ctx = nn.Conv(self.width, (3,))(h[None])[0]
        return nn.sigmoid(nn.Dense(mix.shape[-1])(nn.relu(ctx)))


def fresh_state(key, bins=65):
    net = MaskNet()
    params = net.init(key, jnp.zeros((4, bins)), key, 0.4)["params"]
    return TrainState.create(apply_fn=net.apply, params=params, tx=optax.adam(4e-3))


@jax.jit
def learn(state, mix, voice, live, drop, rng):
    def loss_fn(p):
        mask = state.apply_fn({"params": p}, mix, rng, drop)
        err = jnp.mean((mask * mix - voice) ** 2, axis=1)
        return jnp.sum(err * live) / live.sum()

    loss, g = jax.value_and_grad(loss_fn)(state.params)
    return state.apply_gradients(grads=g), loss
