import jax
import numpy as np
import numpyro
from numpyro.infer import SVI, Predictive, Trace_ELBO
from numpyro.infer.autoguide import AutoNormal

from radon import hierarchical, rmse, simulate


class Stream:
    def __init__(self, arrays, batch, seed):
        self.arrays, self.batch = arrays, batch
        self.rng = np.random.default_rng(seed)

    def epoch(self):
        n = len(self.arrays[0])
        perm = self.rng.permutation(n)
        for i in range(0, n - self.batch + 1, self.batch):
            yield tuple(a[perm[i : i + self.batch]] for a in self.arrays)


class StreamingFit:
    def __init__(self, model, total, lr=0.03):
        self.model, self.total = model, total
        self.guide = AutoNormal(model)
        self.svi = SVI(model, self.guide, numpyro.optim.Adam(lr), Trace_ELBO())
        self.update = jax.jit(self.svi.update, static_argnames=("total",))
        self.draw = jax.jit(self._draw)
        self.state = None

    def _draw(self, params, k, county, floor):
        return Predictive(self.model, guide=self.guide, params=params, num_samples=16)(k, county, floor)["y"]

    def partial_fit(self, batch, temper):
        if self.state is None:
            self.state = self.svi.init(jax.random.PRNGKey(0), *batch, total=self.total)
        self.state, loss = self.update(self.state, *batch, total=self.total, temper=np.float32(temper))
        return float(loss)

    def posterior_check(self, county, floor, y, key):
        params = self.svi.get_params(self.state)
        return rmse(self.draw(params, key, county, floor), y)


def temperature(epoch, burn=1):
    return min(1.0, 0.4 + 0.3 * epoch) if epoch < burn else 1.0


def main(epochs=4):
    train, test = simulate(150, 0), simulate(40, 1)
    fit = StreamingFit(hierarchical, total=150)
    stream = Stream(train, batch=32, seed=2)
    key = jax.random.PRNGKey(7)
    for epoch in range(epochs):
        losses = [fit.partial_fit(b, temperature(epoch)) for b in stream.epoch()]
        if epoch % 2 == 1:
            key, sub = jax.random.split(key)
            print(f"epoch {epoch} elbo {np.mean(losses):.2f} rmse {fit.posterior_check(*test, sub):.3f}")


if __name__ == "__main__":
    main()
