"""A ranking model that lives beside the trap; side_ranker(N) takes N training steps."""

import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def ranker_step(weights, features, order):
    def loss_of(w):
        scores = jax.nn.elu(features @ w["first"]) @ w["second"]
        return -jnp.sum(jax.nn.log_softmax(scores[:, 0])[order]) / 3.0

    value, slope = jax.value_and_grad(loss_of)(weights)
    return jax.tree.map(lambda w, s: w - 0.03 * s, weights, slope), value


RANKER = []


def side_ranker(steps):
    if not RANKER:
        rng = np.random.default_rng(100)
        weights = {
            "first": rng.normal(size=(5, 9)).astype(np.float32),
            "second": rng.normal(size=(9, 1)).astype(np.float32),
        }
        RANKER.append((rng, weights))
    rng, weights = RANKER.pop()
    for _ in range(steps):
        features = rng.normal(size=(11, 5)).astype(np.float32)
        weights, _ = ranker_step(weights, features, np.arange(3, dtype=np.int32))
    RANKER.append((rng, weights))
