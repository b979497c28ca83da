import jax
import jax.numpy as jnp
import numpy as np
import optax


def init_params(key, sizes):
    keys = jax.random.split(key, len(sizes) - 1)
    return [
        {"w": jax.random.normal(k, (i, o)) * (2.0 / i) ** 0.5, "b": jnp.zeros(o)}
        for k, i, o in zip(keys, sizes[:-1], sizes[1:])
    ]


def logits_of(params, x):
    for p in params[:-1]:
        x = jax.nn.relu(x @ p["w"] + p["b"])
    return x @ params[-1]["w"] + params[-1]["b"]


def loss_of(params, x, y):
    return optax.softmax_cross_entropy_with_integer_labels(logits_of(params, x), y).mean()


@jax.jit
def micro_step(params, carried, x, y):
    loss, grads = jax.value_and_grad(loss_of)(params, x, y)
    return jax.tree.map(jnp.add, carried, grads), loss


class Trainer:
    def __init__(self, params, learning_rate, every, callbacks=()):
        self.params = params
        self.every = every
        self.callbacks = list(callbacks)
        self.opt_state = None
        self.accuracy = jax.jit(lambda p, x, y: jnp.mean(logits_of(p, x).argmax(-1) == y))
        self.zeros = jax.tree.map(jnp.zeros_like, params)
        self.learning_rate = learning_rate
        self._configure()

    def set_learning_rate(self, value):
        self.learning_rate = value
        self.opt_state.hyperparams["learning_rate"] = jnp.asarray(value, jnp.float32)

    def _configure(self):
        @optax.inject_hyperparams
        def build(learning_rate):
            return optax.chain(optax.clip_by_global_norm(5.0), optax.sgd(learning_rate, momentum=0.9))

        tx = build(learning_rate=jnp.float32(self.learning_rate))
        if self.opt_state is None:
            self.opt_state = tx.init(self.params)

        def apply_update(params, opt_state, grads, n):
            grads = jax.tree.map(lambda g: g / n, grads)
            updates, opt_state = tx.update(grads, opt_state, params)
            return optax.apply_updates(params, updates), opt_state

        self.apply_update = jax.jit(apply_update)

    def fit(self, x, y, epochs, batch):
        for epoch in range(epochs):
            pending, seen, losses = self.zeros, 0, []
            for at in range(0, len(x), batch):
                pending, loss = micro_step(self.params, pending, x[at:at + batch], y[at:at + batch])
                losses.append(float(loss))
                seen += 1
                if seen % self.every == 0:
                    self.params, self.opt_state = self.apply_update(
                        self.params, self.opt_state, pending, np.float32(self.every)
                    )
                    pending = self.zeros
            logs = {"epoch": epoch, "loss": float(np.mean(losses)), "lr": float(self.learning_rate)}
            logs["acc"] = float(self.accuracy(self.params, x, y))
            for cb in self.callbacks:
                cb.on_epoch_end(self, logs)
