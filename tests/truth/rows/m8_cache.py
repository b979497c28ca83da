"""M8: what the step returns is one longer than what it was given."""
import jax
import jax.numpy as jnp


@jax.jit
def extend(memory, token):
    seen = jnp.append(memory, token[None], axis=0)
    weight = jax.nn.softmax(seen @ token)
    return seen, jnp.tanh(weight @ seen)


memory, token = jnp.zeros((4, 6)), jnp.ones(6)
for position in range(22):
    memory, token = extend(memory, token)
print(memory.shape)
