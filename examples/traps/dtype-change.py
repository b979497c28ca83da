# trap: dtype-change
# function: eval_loss
# recompiles: 1
# fix: `images`
"""One data source delivers uint8 images, the other floats that were normalised before."""

import jax
import jax.numpy as jnp
import numpy as np

SIDE = 8  # size: 6 10 12
WIDTH = 24  # size: 16..48 by 8
BATCH = 10  # size: 6..20 by 2


@jax.jit
def eval_loss(params, images, labels):
    flat = jnp.reshape(images, (images.shape[0], -1))  # origin
    hidden = jax.nn.relu(flat.astype(jnp.float32) @ params["in"])
    logits = jax.nn.log_softmax(hidden @ params["out"])
    return -jnp.mean(jnp.take_along_axis(logits, labels[:, None], axis=1))


def batches(rng):
    for kind in ["float", "float", "raw", "float", "raw", "raw"]:
        images = rng.integers(0, 255, size=(BATCH, SIDE, SIDE)).astype(np.uint8)
        if kind == "float":
            images = images.astype(np.float32) / 255.0
        yield images, rng.integers(0, 5, size=BATCH).astype(np.int32)


def main():
    rng = np.random.default_rng(6)
    params = {
        "in": rng.normal(size=(SIDE * SIDE, WIDTH)).astype(np.float32) * 0.05,
        "out": rng.normal(size=(WIDTH, 5)).astype(np.float32) * 0.2,
    }
    total = 0.0
    for images, labels in batches(rng):
        total += float(eval_loss(params, images, labels))  # trigger
    print("loss", total)


if __name__ == "__main__":
    main()
