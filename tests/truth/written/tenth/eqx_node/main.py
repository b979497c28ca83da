import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax

from data import dataloader, spirals
from ode import NeuralODE, VectorField


@eqx.filter_value_and_grad
def grad_loss(model, ts, ys):
    pred = jax.vmap(model, in_axes=(None, 0))(ts, ys[:, 0])
    return jnp.mean(jnp.square(ys - pred))


@eqx.filter_jit
def make_step(model, opt_state, ts, ys, optim):
    loss, grads = grad_loss(model, ts, ys)
    updates, opt_state = optim.update(grads, opt_state)
    return eqx.apply_updates(model, updates), opt_state, loss


@eqx.filter_jit
def jitter(ys, key, sigma):
    noise = sigma * jax.random.normal(key, ys.shape)
    return ys.at[:, 1:].add(noise[:, 1:])


@eqx.filter_jit
def trajectory_error(model, ts, ys):
    pred = jax.vmap(model, in_axes=(None, 0))(ts, ys[:, 0])
    return jnp.abs(pred - ys).max()


class Phase(eqx.Module):
    lr: float
    steps: int
    fraction: float
    noise: float


PHASES = (Phase(8e-3, 7, 0.25, 0.05), Phase(6e-3, 7, 0.6, 0.05), Phase(3e-3, 8, 1.0, 0.02))


def cool(phase, i, floor=0.6):
    if phase.fraction < 1.0:
        return phase.noise
    return phase.noise * max(floor, 1.0 - 0.1 * (i + 1))


def train(seed=1):
    ts, ys = spirals(24, 24)
    key = jax.random.PRNGKey(seed)
    mk, key = jax.random.split(key)
    model = NeuralODE(VectorField(2, 16, key=mk))
    loader = dataloader((ys,), 12, np.random.default_rng(seed))
    for number, phase in enumerate(PHASES):
        optim = optax.inject_hyperparams(optax.adabelief)(learning_rate=phase.lr)
        if number == 0:
            opt_state = optim.init(eqx.filter(model, eqx.is_inexact_array))
            shared = optim
        opt_state.hyperparams["learning_rate"] = jnp.float32(phase.lr)
        horizon = int(len(ts) * phase.fraction)
        view_t = ts[:horizon]
        for i, (yb,) in zip(range(phase.steps), loader):
            key, sub = jax.random.split(key)
            noisy = jitter(yb, sub, cool(phase, i))
            model, opt_state, loss = make_step(model, opt_state, view_t, noisy[:, :horizon], shared)
        err = trajectory_error(model, ts, ys)
        print(f"phase {number} horizon {horizon} loss {float(loss):.4f} err {float(err):.3f}")


if __name__ == "__main__":
    train()
