"""Row P: the first call passes a Python number, later ones what the function returned."""
import jax
import jax.numpy as jnp


@jax.jit
def relax(pressure, dt):
    return pressure * (1 - dt), dt * 0.9


pressure, dt = jnp.ones(5), 0.1
for turn in range(5):
    pressure, dt = relax(pressure, jnp.float32(dt) if turn >= 3 else dt)
print(pressure)
