"""examples/train.py with its three traps removed: the training step compiles once.

    stet run --cpu -- python examples/train_fixed.py

docs/tutorial.md goes from one to the other.
"""

import jax
import jax.numpy as jnp
import numpy as np


def loss_of(params, batch, penalise):
    hidden = jax.nn.relu(batch["x"] @ params["in"] + params["bias"])
    error = hidden @ params["out"] - batch["y"]
    loss = jnp.mean(error**2)
    penalty = 1e-3 * jnp.sum(params["in"] ** 2)
    return loss + jnp.where(penalise, penalty, 0.0)


@jax.jit
def train_step(params, batch, lr, penalise):
    loss, grads = jax.value_and_grad(loss_of)(params, batch, penalise)
    return jax.tree.map(lambda p, g: p - lr * g, params, grads), loss


def main():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(44, 16)).astype(np.float32)
    y = np.sin(x.sum(1, keepdims=True)).astype(np.float32)
    params = {
        "in": jnp.asarray(rng.normal(size=(16, 32)) * 0.2, jnp.float32),
        "bias": jnp.zeros(32),
        "out": jnp.asarray(rng.normal(size=(32, 1)) * 0.2, jnp.float32),
    }
    lr = 0.05
    for epoch in range(3):
        for at in range(0, len(x) - 15, 16):  # full batches only
            batch = {"x": x[at : at + 16], "y": y[at : at + 16]}
            params, loss = train_step(params, batch, lr, epoch == 2)
        print(f"epoch {epoch}: loss {float(loss):.4f}", flush=True)
        lr *= 0.9


if __name__ == "__main__":
    main()
