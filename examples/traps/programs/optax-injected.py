# trap: none
# recompiles: 0
"""optax with a schedule, clipping and an injected learning rate that changes every step: nothing recompiles."""

import jax
import jax.numpy as jnp
import numpy as np
import optax

WIDTH = 16  # size: 8..32 by 8
BATCH = 8  # size: 4..16 by 4


def loss_of(params, x):
    hidden = jax.nn.relu(x @ params["a"])
    return jnp.mean((hidden @ params["b"] - x[:, :1]) ** 2)


def main():
    rng = np.random.default_rng(62)
    params = {
        "a": rng.normal(size=(5, WIDTH)).astype(np.float32) * 0.3,
        "b": rng.normal(size=(WIDTH, 1)).astype(np.float32) * 0.3,
    }
    optimizer = optax.chain(
        optax.clip_by_global_norm(1.0), optax.inject_hyperparams(optax.adam)(learning_rate=1e-2)
    )
    state = optimizer.init(params)

    @jax.jit
    def step(params, state, x):
        loss, grads = jax.value_and_grad(loss_of)(params, x)
        updates, state = optimizer.update(grads, state, params)
        return optax.apply_updates(params, updates), state, loss

    for turn in range(10):
        state[1].hyperparams["learning_rate"] = jnp.float32(1e-2 * 0.9**turn)
        params, state, loss = step(params, state, rng.normal(size=(BATCH, 5)).astype(np.float32))
    print("loss", float(loss))


if __name__ == "__main__":
    main()
