import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax.training import train_state

import hooks
from net import Denoiser

T = 50
BETAS = np.linspace(1e-3, 0.08, T, dtype=np.float32)
ABAR = jnp.asarray(np.cumprod(1 - BETAS))


@jax.jit
def train_step(state, x, key):
    k_t, k_n, k_d = jax.random.split(key, 3)
    t = jax.random.randint(k_t, (x.shape[0],), 0, T)
    noise = jax.random.normal(k_n, x.shape)
    a = ABAR[t][:, None]
    noisy = jnp.sqrt(a) * x + jnp.sqrt(1 - a) * noise

    def loss_fn(params):
        pred = state.apply_fn({"params": params}, noisy, t.astype(jnp.float32), rngs={"dropout": k_d})
        return jnp.mean((pred - noise) ** 2)

    loss, grads = jax.value_and_grad(loss_fn)(state.params)
    return state.apply_gradients(grads=grads), loss


def table(n=192, seed=0):
    rng = np.random.default_rng(seed)
    z = rng.standard_normal((n, 2))
    mix = rng.standard_normal((2, 6))
    return (np.tanh(z @ mix) + 0.05 * rng.standard_normal((n, 6))).astype(np.float32)


def fit(epochs=8, batch=48):
    data = table()
    net = Denoiser(drop=0.3)
    key = jax.random.key(0)
    variables = net.init({"params": key, "dropout": key}, data[:2], jnp.zeros(2))
    state = train_state.TrainState.create(
        apply_fn=net.apply, params=variables["params"], tx=optax.adamw(4e-3))
    state = state.replace(step=jnp.int32(0))
    callbacks = [hooks.Regulariser([0.3, 0.3, 0.2, 0.1, 0.0]), hooks.Plateau(4e-3), hooks.History()]
    order = np.random.default_rng(1)

    for epoch in range(epochs):
        for cb in callbacks:
            state = cb.epoch_start(state, epoch)
        losses = []
        for rows in order.permutation(len(data)).reshape(-1, batch):
            key, sub = jax.random.split(key)
            state, loss = train_step(state, data[rows], sub)
            losses.append(loss)
        logs = {"loss": float(jnp.mean(jnp.stack(losses)))}
        for cb in callbacks:
            state = cb.epoch_end(state, epoch, logs)
    return state


if __name__ == "__main__":
    final = fit()
    print("steps", int(final.step))
