import functools

import jax
import jax.numpy as jnp
import optax
from flax import nnx


class Forecaster(nnx.Module):
    def __init__(self, rngs):
        self.conv = nnx.Conv(3, 16, (3,), use_bias=False, rngs=rngs)
        self.norm = nnx.BatchNorm(16, rngs=rngs)
        self.drop = nnx.Dropout(0.1, rngs=rngs)
        self.out = nnx.Linear(16, 1, rngs=rngs)

    def __call__(self, x):
        h = nnx.relu(self.norm(self.conv(x / 20.0)))
        return 40 + 10 * self.out(self.drop(h.mean(1)))[:, 0]


@nnx.jit
def fit_day(model, optimizer, x, peak):
    def loss_fn(m):
        return jnp.mean((m(x) - peak) ** 2)
    loss, grads = nnx.value_and_grad(loss_fn)(model)
    optimizer.update(model, grads)
    return loss


@nnx.jit
def predict(model, x):
    return model(x)


def audited(fn):
    """Figures that go to the regulator are computed in full precision."""
    @functools.wraps(fn)
    def inner(*args, **kwargs):
        with jax.default_matmul_precision("float32"):
            return fn(*args, **kwargs)
    return inner


class Desk:
    def __init__(self, lr=5e-3, good_enough=2.0):
        self.model = Forecaster(nnx.Rngs(0))
        self.optimizer = nnx.Optimizer(self.model, optax.adam(lr), wrt=nnx.Param)
        self.good_enough = good_enough
        self.filed = []

    def review(self, x, peak):
        self.model.eval()
        mae = float(jnp.abs(predict(self.model, x) - peak).mean())
        if mae < self.good_enough:
            return mae, "hold"
        self.model.train()
        return mae, "keep training"

    @audited
    def file_report(self, day, x):
        view = nnx.clone(self.model)
        view.eval()
        self.filed.append((day.isoformat(), float(predict(view, x).sum())))
