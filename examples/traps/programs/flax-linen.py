# trap: last-batch
# function: train_step
# recompiles: 1
# fix: drop, pad
"""A Flax classifier with a TrainState and optax.adamw, trained over a data set with a short last batch."""

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax.training import train_state

EXAMPLES = 70  # size: 58 70 86
BATCH = 16  # size: 14 16 20
WIDTH = 16  # size: 8..32 by 8


class Classifier(nn.Module):
    width: int

    @nn.compact
    def __call__(self, x):
        x = nn.Dense(self.width)(x)  # origin
        x = nn.LayerNorm()(nn.gelu(x))
        return nn.Dense(4)(x)


@jax.jit
def train_step(state, x, y):
    def loss_of(params):
        logits = state.apply_fn({"params": params}, x)  # origin
        return optax.softmax_cross_entropy_with_integer_labels(logits, y).mean()

    loss, grads = jax.value_and_grad(loss_of)(state.params)
    return state.apply_gradients(grads=grads), loss


def main():
    rng = np.random.default_rng(60)
    x = rng.normal(size=(EXAMPLES, 6)).astype(np.float32)
    y = x[:, :4].argmax(1).astype(np.int32)
    model = Classifier(WIDTH)
    params = model.init(jax.random.key(0), x[:1])["params"]
    state = train_state.TrainState.create(apply_fn=model.apply, params=params, tx=optax.adamw(1e-2))
    for epoch in range(3):
        for at in range(0, EXAMPLES, BATCH):
            state, loss = train_step(state, x[at : at + BATCH], y[at : at + BATCH])  # trigger
        print("epoch", epoch, "loss", float(loss))


if __name__ == "__main__":
    main()
