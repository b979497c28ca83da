import jax
import jax.numpy as jnp
from feed import *


def predict(w, wave, level):
    return w[0] * wave[-1] + w[1] * jnp.nan_to_num(level).mean() + w[2]


def loss(w, wave, level):
    return (predict(w, wave, level) - wave.sum()) ** 2


fit = jax.jit(lambda w, wave, level: w - 1e-4 * jax.grad(loss)(w, wave, level))
fit.__name__ if hasattr(fit, "__name__") else None


def step(w, wave, level):
    return w - 1e-4 * jax.grad(loss)(w, wave, level)


step.__name__ = "fit"
fit = jax.jit(step)
w = jnp.zeros(3)
for wave, level in Fenster(sensor(26, 20), 8):
    w = fit(w, wave, level)
print("done", w.shape)
