from functools import partial
from itertools import islice

import jax
import jax.numpy as jnp
import numpy as np

from env import Cart, Collector


class Schedule:
    def __init__(self, hi, lo, every):
        self.hi, self.lo, self.every = hi, lo, every
        self.calls = 0

    def __call__(self):
        self.calls += 1
        k = self.calls // self.every
        return round(max(self.lo, self.hi * 0.5 ** k), 6)


def logits(p, x):
    return jnp.tanh(x @ p["w1"]) @ p["w2"]


@partial(jax.jit, static_argnames=("beta",))
def improve(p, batch, beta):
    def loss(p):
        lp = jax.nn.log_softmax(logits(p, batch["obs"]))
        chosen = jnp.take_along_axis(lp, batch["act"][:, None], 1)[:, 0]
        return -(chosen * batch["ret"]).mean() + beta * (lp * jnp.exp(lp)).sum(1).mean()
    g = jax.grad(loss)(p)
    return jax.tree.map(lambda a, b: a - 1e-3 * b, p, g)


def main():
    rng = np.random.default_rng(3)
    p = {"w1": jnp.asarray(rng.normal(size=(4, 16)) * 0.1, jnp.float32), "w2": jnp.asarray(rng.normal(size=(16, 2)) * 0.1, jnp.float32)}
    beta = Schedule(0.02, 0.0025, 6)
    collector = Collector(Cart(0), lambda o: int(rng.integers(2)))
    for i, episode in enumerate(islice(collector, 18)):
        p = improve(p, episode, beta=beta())
        if i % 9 == 8:
            print("iteration", i)


if __name__ == "__main__":
    main()
