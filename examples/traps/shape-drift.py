# trap: shape-drift
# function: train_step
# recompiles: 4
# fix: bucket, pad
"""Sentences are padded to the longest of each batch, so the sequence length differs step to step."""

import jax
import jax.numpy as jnp
import numpy as np

VOCAB = 40  # size: 24..80 by 8
WIDTH = 16  # size: 8..32 by 8
BATCH = 6  # size: 4..12 by 2
SPREAD = 3  # size: 2 3 5


def loss_of(params, tokens):
    hidden = params["embed"][tokens]  # origin
    context = jnp.cumsum(hidden, axis=1)[:, :-1] / 4.0
    logits = jnp.tanh(context @ params["mix"]) @ params["embed"].T
    wanted = jax.nn.one_hot(tokens[:, 1:], logits.shape[-1])
    return -jnp.mean(jnp.sum(jax.nn.log_softmax(logits) * wanted, axis=-1))


@jax.jit
def train_step(params, tokens):
    loss, grads = jax.value_and_grad(loss_of)(params, tokens)
    return jax.tree.map(lambda p, g: p - 0.1 * g, params, grads), loss


def batches(rng):
    for longest in [9, 14, 11, 9, 17, 14, 20]:
        lengths = rng.integers(5, 9, size=BATCH)
        lengths[0] = 6 + longest * SPREAD
        tokens = np.zeros((BATCH, lengths.max()), np.int32)
        for row, length in enumerate(lengths):
            tokens[row, :length] = rng.integers(1, VOCAB, size=length)
        yield tokens


def main():
    rng = np.random.default_rng(3)
    params = {
        "embed": rng.normal(size=(VOCAB, WIDTH)).astype(np.float32) * 0.2,
        "mix": rng.normal(size=(WIDTH, WIDTH)).astype(np.float32) * 0.2,
    }
    for tokens in batches(rng):
        params, loss = train_step(params, tokens)  # trigger
    print("loss", float(loss))


if __name__ == "__main__":
    main()
