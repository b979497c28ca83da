# trap: shape-drift
# function: predict
# recompiles: 2
# fix: pad
"""A Flax NNX sequence model serves prompts of any length."""

import jax
import jax.numpy as jnp
import numpy as np
from flax import nnx

VOCAB = 32  # size: 24..64 by 8
WIDTH = 12  # size: 8 12 16


class Tagger(nnx.Module):
    def __init__(self, rngs):
        self.embed = nnx.Embed(VOCAB, WIDTH, rngs=rngs)
        self.mix = nnx.Linear(WIDTH, WIDTH, rngs=rngs)
        self.out = nnx.Linear(WIDTH, 3, rngs=rngs)

    def __call__(self, tokens):
        hidden = self.embed(tokens)  # origin
        hidden = jnp.tanh(self.mix(hidden) + hidden.mean(0))
        return self.out(hidden)


@nnx.jit
def predict(model, tokens):
    return jnp.argmax(model(tokens), axis=-1)


def main():
    rng = np.random.default_rng(63)
    model = Tagger(nnx.Rngs(0))
    for length in [9, 9, 14, 9, 21, 14]:
        tags = predict(model, rng.integers(0, VOCAB, size=length).astype(np.int32))  # trigger
    print("tags", np.asarray(tags)[:5])


if __name__ == "__main__":
    main()
