import jax.numpy as jnp
import numpy as np


class Hook:
    def epoch_start(self, state, epoch):
        return state

    def epoch_end(self, state, epoch, logs):
        return state


class Regulariser(Hook):
    def __init__(self, levels):
        self.levels = levels

    def epoch_start(self, state, epoch):
        level = self.levels[min(epoch, len(self.levels) - 1)]
        return state.replace(drop=np.float32(level))


class Plateau(Hook):
    def __init__(self, lr, factor=0.5, patience=1):
        self.lr, self.factor, self.patience = lr, factor, patience
        self.best, self.bad = float("inf"), 0

    def epoch_end(self, state, epoch, logs):
        if logs["loss"] < self.best * 0.8:
            self.best, self.bad = logs["loss"], 0
            return state
        self.bad += 1
        if self.bad <= self.patience:
            return state
        self.bad = 0
        self.lr *= self.factor
        hyper = dict(state.opt_state.hyperparams, learning_rate=jnp.float32(self.lr))
        return state.replace(opt_state=state.opt_state._replace(hyperparams=hyper))


class History(Hook):
    def __init__(self):
        self.rows = []

    def epoch_end(self, state, epoch, logs):
        self.rows.append(dict(logs, epoch=epoch, step=int(state.step)))
        print(" ".join(f"{k}={v:.4g}" for k, v in self.rows[-1].items()))
        return state
