"""Harmonic constituents: design matrix, fit and forecast."""
import jax
import jax.numpy as jnp
import optax

from gauge import PERIODS_H

OMEGA = 2 * jnp.pi / jnp.asarray(PERIODS_H)
optimiser = optax.adam(5e-2)


def tide(coef, t):
    arg = t[:, None] * OMEGA
    return coef["mean"] + jnp.cos(arg) @ coef["c"] + jnp.sin(arg) @ coef["s"]


def blank():
    k = PERIODS_H.size
    coef = {"mean": jnp.zeros(()), "c": jnp.zeros(k), "s": jnp.zeros(k)}
    return coef, optimiser.init(coef)


@jax.jit
def fit_step(coef, opt_state, t, h, weight):
    def misfit(c):
        r = tide(c, t) - h
        return jnp.sum(weight * r * r) / (jnp.sum(weight) + 1e-6)

    value, grads = jax.value_and_grad(misfit)(coef)
    updates, opt_state = optimiser.update(grads, opt_state)
    return optax.apply_updates(coef, updates), opt_state, value


def forecaster(coef, datum):
    """Returns hours -> level above chart datum."""

    def forecast(hours):
        return _forecast(coef, datum, hours)

    return forecast


@jax.jit
def _forecast(coef, datum, hours):
    return tide(coef, hours) - datum
