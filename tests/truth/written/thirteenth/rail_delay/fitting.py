import jax
import jax.numpy as jnp
import optax

from timetable import huber


class Fitter:
    def __init__(self, rate, patience=2):
        self.rate, self.patience = rate, patience
        self.best, self.bad = float("inf"), 0
        self.apply = self._build(self.rate)

    @staticmethod
    def fresh():
        params = {"couple": jnp.zeros((6, 6)), "base": jnp.zeros(6)}
        return params, optax.sgd(0.0, momentum=0.8).init(params)

    def _build(self, rate):
        opt = optax.sgd(rate, momentum=0.8)

        @jax.jit
        def apply(params, state, now, then):
            loss, g = jax.value_and_grad(huber)(params, now, then)
            up, state = opt.update(g, state)
            return optax.apply_updates(params, up), state, loss

        return apply

    def observe(self, loss):
        self.bad = 0 if loss < self.best else self.bad + 1
        self.best = min(self.best, loss)
        if self.bad >= self.patience:
            self.rate *= 0.5
            self.bad = 0
            self.apply = self._build(self.rate)
        return self.rate
