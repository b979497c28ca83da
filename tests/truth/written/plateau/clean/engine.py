"""A training engine with callbacks."""
import jax
import jax.numpy as jnp
import optax


class Engine:
    def __init__(self, loss_fn, params, rate, clip=1.0):
        self.loss_fn = loss_fn
        self.params = params
        self.clip = clip
        self.history = []
        self.rate = rate
        tuned = optax.inject_hyperparams(optax.sgd, static_args="momentum")(learning_rate=rate, momentum=0.9)
        self.optimizer = optax.chain(optax.clip_by_global_norm(self.clip), tuned)
        self.state = self.optimizer.init(self.params)
        self._advance = jax.jit(self._make())

    def configure(self, rate):
        self.rate = rate
        self.state[1].hyperparams["learning_rate"] = jnp.float32(rate)

    def _make(self):
        def advance(params, state, batch):
            loss, grads = jax.value_and_grad(self.loss_fn)(params, batch)
            updates, state = self.optimizer.update(grads, state, params)
            return optax.apply_updates(params, updates), state, loss
        return advance

    def fit(self, batches, callbacks=()):
        losses = []
        for batch in batches:
            self.params, self.state, loss = self._advance(self.params, self.state, batch)
            losses.append(loss)
        self.history.append(float(jnp.mean(jnp.stack(losses))))
        for callback in callbacks:
            callback(self)
        return self.history[-1]


class Plateau:
    def __init__(self, factor=0.5, patience=1, tolerance=0.05):
        self.factor, self.patience, self.tolerance = factor, patience, tolerance
        self.best, self.waited = float("inf"), 0

    def __call__(self, engine):
        current = engine.history[-1]
        if current < self.best * (1 - self.tolerance):
            self.best, self.waited = current, 0
            return
        self.waited += 1
        if self.waited >= self.patience:
            self.waited = 0
            engine.configure(engine.rate * self.factor)
