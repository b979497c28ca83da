import jax
import jax.numpy as jnp
import numpy as np

import hmc
from adaptation import DualAveraging, Metric, WindowSchedule, trajectory

COV = np.array([[1.0, 0.7, 0.0], [0.7, 1.2, 0.1], [0.0, 0.1, 0.4]], np.float32)
PREC = np.linalg.inv(COV)


def logdensity(x):
    return -0.5 * x @ PREC @ x


def warmup(key, state, kernel, dim):
    metric, schedule = Metric(dim), WindowSchedule()
    eps, n_leap = 0.1, trajectory(0.1)
    for lo, hi, kind in schedule:
        adapt, draws = DualAveraging(eps), []
        for i in range(lo, hi):
            key, sub = jax.random.split(key)
            state, info = kernel(sub, state, np.float32(eps), metric.inverse, np.int32(n_leap))
            adapt.update(info.acceptance)
            eps = adapt.step_size
            if i % 8 == 7:
                n_leap = trajectory(eps)
            draws.append(np.asarray(state.position))
        metric.learn(draws, kind)
        print(f"window {lo:2d}-{hi:2d} eps {eps:.3f} leapfrogs {n_leap} scale {np.round(np.sqrt(metric.inverse.reshape(-1)[:1]), 2)}")
    return key, state, eps, n_leap, metric


def main(n_samples=30):
    key = jax.random.PRNGKey(3)
    kernel = hmc.build_kernel(logdensity)
    state = hmc.init(jnp.zeros(3), logdensity)
    key, state, eps, n_leap, metric = warmup(key, state, kernel, 3)
    out = []
    for _ in range(n_samples):
        key, sub = jax.random.split(key)
        state, info = kernel(sub, state, np.float32(eps), metric.inverse, np.int32(n_leap))
        out.append(np.asarray(state.position))
    print("mean", np.round(np.mean(out, 0), 2), "sd", np.round(np.std(out, 0), 2))


if __name__ == "__main__":
    main()
