# trap: baked-constant
# recompiles: 3
# fix: array
"""An Equinox model holds its temperature as a Python float, and the loop replaces it as it cools."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax

WIDTH = 16  # size: 8..32 by 8
BATCH = 8  # size: 4..16 by 4


class Gate(eqx.Module):
    inner: eqx.nn.MLP
    temperature: float

    def __call__(self, x):
        return jax.nn.sigmoid(self.inner(x) / self.temperature)  # origin


@eqx.filter_jit
def make_step(model, state, x, y):
    def loss_of(m):
        return jnp.mean((jax.vmap(m)(x) - y) ** 2)

    loss, grads = eqx.filter_value_and_grad(loss_of)(model)
    updates, state = OPTIMIZER.update(grads, state, eqx.filter(model, eqx.is_inexact_array))
    return eqx.apply_updates(model, updates), state, loss


OPTIMIZER = optax.sgd(1e-2, momentum=0.9)


def main():
    rng = np.random.default_rng(61)
    model = Gate(eqx.nn.MLP(5, 1, WIDTH, 1, key=jax.random.key(1)), 2.0)
    state = OPTIMIZER.init(eqx.filter(model, eqx.is_inexact_array))
    for epoch in range(4):
        for _ in range(3):
            x = rng.normal(size=(BATCH, 5)).astype(np.float32)
            model, state, loss = make_step(model, state, x, (x[:, :1] > 0).astype(np.float32))  # trigger
        print("epoch", epoch, "loss", float(loss))
        model = eqx.tree_at(lambda m: m.temperature, model, model.temperature * 0.8)


if __name__ == "__main__":
    main()
