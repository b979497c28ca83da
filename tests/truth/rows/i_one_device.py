"""Row I: typed random keys, memory kinds and one device; no mesh and no sharding changes."""
import jax
import jax.numpy as jnp
from jax.sharding import SingleDeviceSharding


@jax.jit
def chain(position, key):
    jump = jax.random.normal(key, position.shape)
    return jnp.where(jax.random.uniform(key) < 0.5, position + jump, position)


@jax.jit
def energy(position):
    return jnp.sum(position ** 2)


place = SingleDeviceSharding(jax.devices()[0])
position = jax.device_put(jnp.zeros(6), place)
keys = jax.random.split(jax.random.key(8), 20)
for key in keys:
    position = chain(position, key)
    level = energy(position)
chain(jnp.zeros((2, 6)), keys[0])
print(float(level))
