# trap: hidden-branch
# function: train_step
# recompiles: 1
# fix: warm-up
"""A regulariser joins the loss when the warm-up of the schedule is over."""

import jax
import jax.numpy as jnp
import numpy as np

WIDTH = 16  # size: 8..32 by 8
BATCH = 8  # size: 4..16 by 4


class Trainer:
    def __init__(self):
        self.regularise = False

    def loss(self, weights, x):
        hidden = jax.nn.softplus(x @ weights["a"])
        loss = jnp.mean((hidden @ weights["b"] - x[:, :1]) ** 2)
        if self.regularise:
            loss = loss + 0.01 * jnp.sum(jnp.abs(weights["a"]))  # origin
            loss = loss + 0.1 * jnp.max(hidden)  # origin
        return loss

    def step_function(self):
        def train_step(weights, x):
            grads = jax.grad(self.loss)(weights, x)
            return jax.tree.map(lambda w, g: w - 0.05 * g, weights, grads)

        return jax.jit(train_step)


def main():
    rng = np.random.default_rng(50)
    weights = {
        "a": rng.normal(size=(5, WIDTH)).astype(np.float32) * 0.3,
        "b": rng.normal(size=(WIDTH, 1)).astype(np.float32) * 0.3,
    }
    trainer = Trainer()
    update = trainer.step_function()
    for step in range(14):
        if step == 9:
            trainer.regularise = True
            update = trainer.step_function()
        x = rng.normal(size=(BATCH, 5)).astype(np.float32)
        weights = update(weights, x)  # trigger
    print("norm", float(np.linalg.norm(weights["a"])))


if __name__ == "__main__":
    main()
