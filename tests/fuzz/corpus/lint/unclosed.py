import jax
for i in range((((
@jax.jit
def f(x:
 if x[: 'abc
 lambda: jax.jit(lambda