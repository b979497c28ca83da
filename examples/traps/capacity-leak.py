# trap: capacity-leak
# function: moe_step
# recompiles: 3
# fix: capacity, config
"""The experts' capacity is computed from the number of real tokens in each batch."""

import functools

import jax
import jax.numpy as jnp
import numpy as np

TOKENS = 64  # size: 48 64 96
WIDTH = 8  # size: 8 16
EXPERTS = 4  # size: 4 8


@functools.partial(jax.jit, static_argnames="capacity")
def moe_step(params, tokens, capacity):
    gates = jax.nn.softmax(tokens @ params["router"])
    chosen = jax.nn.one_hot(jnp.argmax(gates, axis=-1), EXPERTS)
    place = jnp.cumsum(chosen, axis=0) * chosen - 1.0
    kept = jnp.where(place < capacity, place, -1.0)  # origin
    dispatch = jax.nn.one_hot(kept.astype(jnp.int32), capacity)  # origin
    slots = jnp.einsum("tec,td->ecd", dispatch, tokens)
    done = jax.nn.relu(jnp.einsum("ecd,edf->ecf", slots, params["experts"]))
    return jnp.einsum("tec,ecf->tf", dispatch, done) * gates.max(-1, keepdims=True)


def main():
    rng = np.random.default_rng(17)
    params = {
        "router": rng.normal(size=(WIDTH, EXPERTS)).astype(np.float32),
        "experts": rng.normal(size=(EXPERTS, WIDTH, WIDTH)).astype(np.float32) * 0.3,
    }
    for real in [TOKENS, TOKENS, TOKENS - 10, TOKENS, TOKENS - 21, TOKENS - 10, TOKENS - 33]:
        tokens = rng.normal(size=(TOKENS, WIDTH)).astype(np.float32)
        tokens[real:] = 0.0
        capacity = int(1.25 * real / EXPERTS)
        mixed = moe_step(params, tokens, capacity=capacity)  # trigger
    print("mean", float(np.mean(mixed)))


if __name__ == "__main__":
    main()
