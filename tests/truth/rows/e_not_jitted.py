"""Row E: the training step is an ordinary function; only its gradient is taken by JAX."""
import jax
import jax.numpy as jnp


def penalty(weights, batch):
    hidden = jnp.tanh(batch @ weights["up"] + weights["shift"])
    logits = hidden @ weights["down"]
    return -jnp.mean(jax.nn.log_softmax(logits)[:, 0]) + 1e-3 * jnp.sum(weights["up"] ** 2)


def improve(weights, moments, batch):
    loss, slopes = jax.value_and_grad(penalty)(weights, batch)
    moments = {k: 0.9 * moments[k] + 0.1 * slopes[k] for k in weights}
    weights = {k: weights[k] - 0.05 * moments[k] / (jnp.sqrt(jnp.abs(moments[k])) + 1e-6) for k in weights}
    return weights, moments, loss


def accuracy(weights, batch):
    hidden = jnp.tanh(batch @ weights["up"] + weights["shift"])
    return jnp.mean(jnp.argmax(hidden @ weights["down"], 1) == 0)


weights = {"up": jnp.ones((6, 10)) * 0.1, "shift": jnp.zeros(10), "down": jnp.ones((10, 4))}
moments = {k: jnp.zeros_like(v) for k, v in weights.items()}
batch = jnp.linspace(0, 1, 48).reshape(8, 6)
for turn in range(15):
    weights, moments, loss = improve(weights, moments, batch)
print(float(loss), float(accuracy(weights, batch)), float(accuracy(weights, batch[:3])))
