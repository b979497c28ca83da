"""A very small Keras."""
import jax
import jax.numpy as jnp
import numpy as np
import optax


class Callback:
    trainer = None

    def on_epoch_end(self, epoch, logs): ...


class ReduceOnPlateau(Callback):
    def __init__(self, factor=0.5, patience=1, min_delta=0.02):
        self.factor, self.patience, self.min_delta = factor, patience, min_delta
        self.best, self.bad = np.inf, 0

    def on_epoch_end(self, epoch, logs):
        if logs["loss"] < self.best - self.min_delta:
            self.best, self.bad = logs["loss"], 0
            return
        self.bad += 1
        if self.bad >= self.patience:
            self.bad = 0
            self.trainer.set_lr(self.trainer.lr * self.factor)


class Recorder(Callback):
    def __init__(self):
        self.rows = []

    def on_epoch_end(self, epoch, logs):
        self.rows.append((epoch, logs["loss"], self.trainer.lr))


class Trainer:
    def __init__(self, params, loss_fn, lr, micro=4, callbacks=()):
        self.params, self.loss_fn, self.lr, self.micro = params, loss_fn, lr, micro
        self.callbacks = list(callbacks)
        for c in self.callbacks:
            c.trainer = self
        self.opt_state = None
        self.compile()

    def compile(self):
        tx = self.tx = optax.chain(optax.clip_by_global_norm(1.0), optax.adam(self.lr))
        if self.opt_state is None:
            self.opt_state = tx.init(self.params)

        def apply_grads(params, opt_state, acc):
            g = jax.tree.map(lambda a: a / self.micro, acc)
            up, opt_state = tx.update(g, opt_state, params)
            return optax.apply_updates(params, up), opt_state

        self._apply = jax.jit(apply_grads)
        if not hasattr(self, "_accumulate"):
            self._accumulate = jax.jit(self.accumulate)

    def accumulate(self, params, acc, batch):
        loss, g = jax.value_and_grad(self.loss_fn)(params, batch)
        if acc is None:
            return g, loss
        return jax.tree.map(jnp.add, acc, g), loss

    def set_lr(self, lr):
        self.lr = lr
        self.compile()

    def fit(self, batches, epochs):
        for epoch in range(epochs):
            losses, acc = [], None
            for i, batch in enumerate(batches(epoch), 1):
                acc, loss = self._accumulate(self.params, acc, batch)
                losses.append(loss)
                if i % self.micro == 0:
                    self.params, self.opt_state = self._apply(self.params, self.opt_state, acc)
                    acc = None
            logs = {"loss": float(np.mean(jax.device_get(losses)))}
            for c in self.callbacks:
                c.on_epoch_end(epoch, logs)
        return self
