# trap: dim-readback
# function: summarise
# recompiles: 3
# fix: bound, mask
"""The number of detections is read back from the device and becomes a size of the next program."""

import functools

import jax
import jax.numpy as jnp
import numpy as np

BOXES = 40  # size: 32..64 by 8
WIDTH = 6  # size: 4..12 by 2


@jax.jit
def detect(params, image):
    scores = jax.nn.sigmoid(image @ params["score"])[:, 0]
    return scores, image @ params["box"]


@functools.partial(jax.jit, static_argnames="count")
def summarise(scores, boxes, count):
    best = jnp.argsort(-scores)[:count]  # origin
    return jnp.mean(boxes[best] * scores[best, None], axis=0)


def main():
    rng = np.random.default_rng(21)
    params = {
        "score": np.ones((WIDTH, 1), np.float32),
        "box": rng.normal(size=(WIDTH, 4)).astype(np.float32),
    }
    for found in [9, 9, 12, 6, 12, 15]:
        image = np.full((BOXES, WIDTH), -1.0, np.float32)
        image[rng.permutation(BOXES)[:found]] = 1.0
        scores, boxes = detect(params, image)
        count = int(jnp.count_nonzero(scores > 0.5))  # origin
        mean = summarise(scores, boxes, count=count)  # trigger
    print("mean", np.asarray(mean))


if __name__ == "__main__":
    main()
