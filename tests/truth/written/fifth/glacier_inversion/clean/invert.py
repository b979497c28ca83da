import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import nnx

from isnet import ThicknessNet
from survey import flight_lines


@nnx.jit
def adjust(model, optimizer, x, y):
    def misfit(m):
        return jnp.mean(optax.log_cosh(m(x), y))

    value, grads = nnx.value_and_grad(misfit)(model)
    optimizer.update(model, grads)
    return value


class Watcher:
    """Remembers the misfit of every line and tells us when the curve is flat."""

    def __init__(self, window=3):
        self.window = window
        self.values = []

    def __call__(self, value):
        self.values.append(value)

    def trend(self):
        recent = np.asarray(jax.device_get(self.values))
        return recent[-self.window:].mean() - recent.mean()


def main(n_lines=9, points=96):
    model = ThicknessNet(4, 16, 2, rngs=nnx.Rngs(0))
    optimizer = nnx.Optimizer(model, optax.nadam(4e-3), wrt=nnx.Param)
    watch = Watcher()
    trends = []
    for line, x, y in flight_lines(n_lines, points, seed=21):
        watch(adjust(model, optimizer, x, y))
        if line % 3 == 2:
            trends.append((line, watch.trend()))
    for line, trend in trends:
        print(f"line {line:2d} trend {float(trend):+.4f}")
    print("final misfit", float(watch.values[-1]))


if __name__ == "__main__":
    main()
