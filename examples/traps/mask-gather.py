# trap: mask-gather
# function: masked_loss
# recompiles: 3
# fix: size=, mask
"""Only the masked positions enter the loss: a boolean index gives every batch a size of its own."""

import jax
import jax.numpy as jnp
import numpy as np

VOCAB = 32  # size: 24..64 by 8
WIDTH = 12  # size: 8..24 by 4
LENGTH = 20  # size: 20..40 by 4


@jax.jit
def encode(params, tokens):
    hidden = params["embed"][tokens]
    return jnp.tanh(hidden @ params["mix"])


@jax.jit
def masked_loss(params, hidden, wanted):
    logits = jax.nn.log_softmax(hidden @ params["embed"].T)  # origin
    return -jnp.mean(jnp.take_along_axis(logits, wanted[:, None], axis=1))


def main():
    rng = np.random.default_rng(19)
    params = {
        "embed": rng.normal(size=(VOCAB, WIDTH)).astype(np.float32),
        "mix": rng.normal(size=(WIDTH, WIDTH)).astype(np.float32) * 0.3,
    }
    for masked in [5, 5, 7, 4, 7, 9, 5]:
        tokens = rng.integers(0, VOCAB, size=(4, LENGTH)).astype(np.int32)
        mask = np.zeros((4, LENGTH), bool)
        mask.reshape(-1)[rng.permutation(4 * LENGTH)[:masked]] = True
        hidden = encode(params, tokens)
        picked = hidden[mask]  # origin
        loss = masked_loss(params, picked, tokens[mask])  # trigger
    print("loss", float(loss))


if __name__ == "__main__":
    main()
