import jax
import jax.numpy as jnp
import optax

from timetable import huber


opt = optax.inject_hyperparams(optax.sgd)(learning_rate=jnp.float32(0.05), momentum=0.8)


@jax.jit
def apply(params, state, now, then, rate):
    state.hyperparams["learning_rate"] = rate
    loss, g = jax.value_and_grad(huber)(params, now, then)
    up, state = opt.update(g, state)
    return optax.apply_updates(params, up), state, loss


class Fitter:
    def __init__(self, rate, patience=2):
        self.rate, self.patience = rate, patience
        self.best, self.bad = float("inf"), 0
        self.apply = apply

    @staticmethod
    def fresh():
        params = {"couple": jnp.zeros((6, 6)), "base": jnp.zeros(6)}
        return params, opt.init(params)

    def observe(self, loss):
        self.bad = 0 if loss < self.best else self.bad + 1
        self.best = min(self.best, loss)
        if self.bad >= self.patience:
            self.rate *= 0.5
            self.bad = 0
        return self.rate
