# trap: shape-drift
# function: classify
# recompiles: 3
# fix: pad
"""A server classifies images in whatever size they arrive."""

import jax
import jax.numpy as jnp
import numpy as np

CHANNELS = 4  # size: 3 4 6
KINDS = 5  # size: 3..9 by 2


@jax.jit
def classify(params, image):
    rows = image[1:, :-1] - image[:-1, :-1]  # origin
    columns = image[:-1, 1:] - image[:-1, :-1]  # origin
    energy = jnp.sqrt(rows**2 + columns**2 + 1e-6)
    pooled = jnp.concatenate([energy.mean((0, 1)), energy.max((0, 1))])
    return jax.nn.softmax(pooled @ params)


def main():
    rng = np.random.default_rng(43)
    params = rng.normal(size=(2 * CHANNELS, KINDS)).astype(np.float32)
    counts = np.zeros(KINDS)
    for height, width in [(12, 16), (12, 16), (18, 16), (12, 24), (18, 16), (20, 20), (12, 16)]:
        image = rng.uniform(size=(height, width, CHANNELS)).astype(np.float32)
        counts += np.asarray(classify(params, image))  # trigger
    print("counts", counts)


if __name__ == "__main__":
    main()
