"""The precision of an intermediate value comes from a setting that is changed between two phases."""
import jax
import jax.numpy as jnp
import numpy as np

precision = {"inner": jnp.float32}


def energy(field):
    inner = field.astype(precision["inner"])
    return (inner * inner).sum().astype(jnp.float32)


for phase in (jnp.float32, jnp.bfloat16):
    precision["inner"] = phase
    jax.clear_caches()
    measure = jax.jit(energy)
    for _ in range(6):
        total = measure(np.ones((4, 4), np.float16))
print(total)
