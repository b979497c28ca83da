import jax
import jax.numpy as jnp


def train_step(state, batch):
    x, y = batch

    def loss_fn(p):
        h = jnp.tanh(x @ p["inp"])
        return jnp.mean((h @ p["out"] - y) ** 2)

    loss, g = jax.value_and_grad(loss_fn)(state["params"])
    mom = jax.tree.map(lambda m, d: 0.9 * m + d, state["mom"], g)
    params = jax.tree.map(lambda p, m: p - state["lr"] * m, state["params"], mom)
    return {"params": params, "mom": mom, "lr": state["lr"] * 0.99}, loss


class Runner:
    def __init__(self):
        self._fn = jax.jit(train_step, donate_argnums=(0,))
        self.calls = 0

    def __call__(self, state, batch):
        self.calls += 1
        return self._fn(state, batch)
