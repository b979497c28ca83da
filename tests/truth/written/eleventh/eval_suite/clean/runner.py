import statistics

import jax
import jax.numpy as jnp
import numpy as np

from metrics import resolve
from tasks import SKIP


@jax.jit
@jax.default_matmul_precision("highest")
def forward(params, x):
    for w, b in params[:-1]:
        x = jax.nn.silu(x @ w + b)
    w, b = params[-1]
    return x @ w + b


class Evaluator:
    def __init__(self, params, cfg):
        self.params, self.cfg = params, cfg

    def batch_scores(self, task, x, y):
        logits = forward(self.params, x)
        keep = (y != SKIP).astype(np.float32)
        return {k: float(f(logits, y, keep)) for k, f in resolve(task.metrics, self.cfg).items()}

    def __call__(self, task):
        rows = [self.batch_scores(task, x, y) for x, y in task.data()]
        return {k: statistics.fmean(r[k] for r in rows) for k in task.metrics}


def load_params(sizes=(10, 32, 6), seed=5):
    rng = np.random.default_rng(seed)
    return [
        (jnp.asarray(rng.normal(size=(i, o)) / i**0.5, jnp.float32), jnp.zeros(o))
        for i, o in zip(sizes[:-1], sizes[1:])
    ]
