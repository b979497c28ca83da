"""A jitted function, run thrice; prints the bits of what came back."""
import jax
import numpy as np

x = np.arange(6, dtype=np.float32).reshape(2, 3)
double = jax.jit(lambda x: x * 2 + 1)
for _ in range(3):
    x = np.asarray(double(x))
    print(x.tobytes().hex())
