# trap: rank-change
# function: score
# recompiles: 1
# fix: `example`, dimension
"""A server scores batches, but a single request arrives without its batch dimension."""

import jax
import jax.numpy as jnp
import numpy as np

FEATURES = 20  # size: 12..40 by 4
WIDTH = 32  # size: 16..64 by 8


@jax.jit
def score(params, example):
    hidden = jax.nn.gelu(example @ params["in"] + params["bias"])  # origin
    return jax.nn.sigmoid(hidden @ params["out"])


def main():
    rng = np.random.default_rng(5)
    params = {
        "in": rng.normal(size=(FEATURES, WIDTH)).astype(np.float32) * 0.2,
        "bias": np.zeros(WIDTH, np.float32),
        "out": rng.normal(size=(WIDTH, 3)).astype(np.float32) * 0.2,
    }
    requests = [rng.normal(size=(8, FEATURES)).astype(np.float32) for _ in range(6)]
    requests.insert(4, requests[0][0])
    best = []
    for example in requests:
        result = score(params, example)  # trigger
        best.append(np.asarray(result).argmax())
    print("best", best)


if __name__ == "__main__":
    main()
