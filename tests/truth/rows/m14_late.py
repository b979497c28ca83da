"""M14: every fifth turn, a line outside jit is a program of its own and is read back."""
import jax
import jax.numpy as jnp


@jax.jit
def advance(field):
    return field * 0.95 + 0.01


field = jnp.ones((6, 6))
for turn in range(20):
    field = advance(field)
    if turn % 5 == 4:
        print(turn, float(field.std()))
