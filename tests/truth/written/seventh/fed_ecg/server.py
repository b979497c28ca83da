import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np

from client import all_clients
from net import BeatNet


@jax.jit
def add_weighted(total, delta, weight):
    scaled = jax.tree.map(lambda d: d * weight, delta)
    if total is None:
        return scaled
    return jax.tree.map(jnp.add, total, scaled)


@jax.jit
def finish(params, total, weight):
    return jax.tree.map(lambda p, t: p + t / weight, params, total)


class Aggregate:
    def __init__(self, like):
        self.like = like
        self.total, self.weight = None, 0.0

    def __iadd__(self, item):
        delta, n = item
        self.total = add_weighted(self.total, delta, np.float32(n))
        self.weight += n
        return self

    def apply(self):
        return finish(self.like, self.total, np.float32(self.weight))


def main(rounds=4):
    model = BeatNet(jr.PRNGKey(0))
    clients = all_clients()
    for r in range(rounds):
        params, static = eqx.partition(model, eqx.is_inexact_array)
        agg, losses = Aggregate(params), []
        for c in clients:
            delta, n, loss = c.contribute(model)
            agg += (delta, n)
            losses.append(f"{c.name}={loss:.3f}")
        model = eqx.combine(agg.apply(), static)
        print(f"round {r}:", " ".join(losses))


if __name__ == "__main__":
    main()
