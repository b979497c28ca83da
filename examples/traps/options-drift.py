# trap: options-drift
# function: infer
# recompiles: 1
# fix: xla_cpu_enable_fast_math
"""Production and debugging builds of one step are compiled with other options."""

import jax
import jax.numpy as jnp
import numpy as np

WIDTH = 16  # size: 8..48 by 8
BATCH = 8  # size: 6..20 by 2


def infer(params, x):
    return jax.nn.softmax(jax.nn.relu(x @ params["in"]) @ params["out"])


def compiled_for(params, x, debug):
    options = {"xla_cpu_enable_fast_math": debug}
    return jax.jit(infer).lower(params, x).compile(compiler_options=options)  # trigger # origin


def main():
    rng = np.random.default_rng(24)
    params = {
        "in": rng.normal(size=(7, WIDTH)).astype(np.float32) * 0.3,
        "out": rng.normal(size=(WIDTH, 4)).astype(np.float32) * 0.3,
    }
    x = rng.normal(size=(BATCH, 7)).astype(np.float32)
    for debug in [False, True]:
        run = compiled_for(params, x, debug)
        for _ in range(3):
            chances = run(params, x)
    print("first", float(np.asarray(chances)[0, 0]))


if __name__ == "__main__":
    main()
