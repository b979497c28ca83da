import contextlib
import statistics

import jax
import jax.numpy as jnp
import numpy as np

from metrics import resolve
from tasks import SKIP


@jax.jit
def forward(params, x):
    for w, b in params[:-1]:
        x = jax.nn.silu(x @ w + b)
    w, b = params[-1]
    return x @ w + b


class Evaluator:
    def __init__(self, params, cfg):
        self.params, self.cfg = params, cfg

    def numerics(self, task):
        if task.strict:
            return jax.default_matmul_precision("highest")
        return contextlib.nullcontext()

    def usable(self, logits, labels):
        keep = labels != SKIP
        return logits[keep], labels[keep]

    def batch_scores(self, task, x, y):
        with self.numerics(task):
            logits = np.asarray(forward(self.params, x))
        logits, labels = self.usable(logits, y)
        return {k: float(f(logits, labels)) for k, f in resolve(task.metrics, self.cfg).items()}

    def __call__(self, task):
        rows = [self.batch_scores(task, x, y) for x, y in task.data()]
        return {k: statistics.fmean(r[k] for r in rows) for k in task.metrics}


def load_params(sizes=(10, 32, 6), seed=5):
    rng = np.random.default_rng(seed)
    return [
        (jnp.asarray(rng.normal(size=(i, o)) / i**0.5, jnp.float32), jnp.zeros(o))
        for i, o in zip(sizes[:-1], sizes[1:])
    ]
