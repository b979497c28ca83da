import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax.training.train_state import TrainState


class Head(nn.Module):
    hidden: int
    classes: int

    @nn.compact
    def __call__(self, x):
        x = nn.LayerNorm()(x)
        x = nn.gelu(nn.Dense(self.hidden)(x))
        return nn.Dense(self.classes)(x)


@jax.jit
def train_step(state, x, y):
    def loss_fn(params):
        logits = state.apply_fn({"params": params}, x)
        return optax.softmax_cross_entropy_with_integer_labels(logits, y).mean()

    loss, grads = jax.value_and_grad(loss_fn)(state.params)
    return state.apply_gradients(grads=grads), loss


def make_eval(model):
    @jax.jit
    def evaluate(params, x, y):
        logits = model.apply({"params": params}, x)
        return optax.softmax_cross_entropy_with_integer_labels(logits, y).mean(), (logits.argmax(-1) == y).mean()

    return evaluate


class Trainer:
    def __init__(self, lr, callbacks):
        self.model = Head(32, 5)
        params = jax.jit(self.model.init)(jax.random.PRNGKey(0), np.zeros((1, 12), np.float32))["params"]
        self.state = TrainState.create(apply_fn=self.model.apply, params=params, tx=self.build_tx(lr))
        self.evaluate = make_eval(self.model)
        self.callbacks = callbacks

    def build_tx(self, lr):
        return optax.chain(optax.clip_by_global_norm(1.0), optax.sgd(lr, momentum=0.9))

    def fit(self, table, val, epochs):
        for epoch in range(epochs):
            losses = []
            for x, y in table:
                self.state, loss = train_step(self.state, x, y)
                losses.append(float(loss))
                for cb in self.callbacks:
                    cb.on_batch(self, losses[-1])
            v, acc = self.evaluate(self.state.params, *val)
            metrics = {"epoch": epoch, "train": float(np.mean(losses)), "val": float(v), "acc": float(acc)}
            for cb in self.callbacks:
                cb.on_epoch(self, metrics)
