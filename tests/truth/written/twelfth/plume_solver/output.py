from contextlib import contextmanager

import jax
import jax.numpy as jnp


def spectrum_of(field):
    def power(c):
        return jnp.abs(jnp.fft.rfft2(c)).sum(axis=0)[:4]

    power = jax.jit(power)
    return power(field)


@jax.jit
def mass(c):
    return c.sum()


@contextmanager
def hourly(world, every=3):
    yield
    if world["hour"] % every == 0:
        s = spectrum_of(world["c"])
        print(f"hour {world['hour']:2d} mass {float(mass(world['c'])):.3f} low modes {[round(float(v), 2) for v in s]}")
