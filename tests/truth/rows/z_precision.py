"""Row Z: the last turns compute their products with another precision, which no argument shows."""
import jax
import jax.numpy as jnp


@jax.jit
def turn_over(field, mix):
    return jnp.tanh(field @ mix) @ mix


def exactly(call, *given):
    with jax.default_matmul_precision("highest"):
        return call(*given)


field, mix = jnp.ones((4, 4)), jnp.eye(4) * 0.5
for turn in range(9):
    field = exactly(turn_over, field, mix) if turn > 5 else turn_over(field, mix)
print(float(field.sum()))
