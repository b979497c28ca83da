import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax

from chains import ChainSet, LengthGrouped
from net import Denoiser


@eqx.filter_value_and_grad
def score_loss(model, xyz, valid, sigma, noise):
    pred = jax.vmap(model)(xyz + noise * sigma[:, None, None], valid, sigma)
    err = jnp.sum((pred - xyz) ** 2, -1) / sigma[:, None] ** 2
    return jnp.sum(err * valid) / jnp.sum(valid)


class Session:
    def __init__(self, model, tx, seed):
        self.model, self.tx = model, tx
        self.rng = np.random.default_rng(seed)
        self.opt_state = tx.init(eqx.filter(model, eqx.is_inexact_array))
        self.moving = None

    @staticmethod
    @eqx.filter_jit
    def refine(model, opt_state, tx, xyz, valid, sigma, noise):
        loss, grads = score_loss(model, xyz, valid, sigma, noise)
        upd, opt_state = tx.update(grads, opt_state)
        return eqx.apply_updates(model, upd), opt_state, loss

    def calibrate(self, observed):
        self.moving = observed if self.moving is None else 0.7 * self.moving + 0.3 * observed
        self.model = eqx.tree_at(lambda m: m.spread, self.model, jnp.float32(self.moving))

    def step(self, xyz, valid):
        sigma = np.exp(self.rng.normal(-1.2, 1.2, size=len(xyz))).astype(np.float32)
        noise = self.rng.normal(size=xyz.shape).astype(np.float32)
        self.model, self.opt_state, loss = self.refine(
            self.model, self.opt_state, self.tx, xyz, valid, sigma, noise)
        return loss


def main():
    data = ChainSet(16, seed=1)
    feed = LengthGrouped(data, batch=4, seed=2)
    run = Session(Denoiser(32, key=jax.random.key(0)), optax.adam(1e-3), seed=5)
    for epoch in range(3):
        total, touched = 0.0, []
        for idx, (xyz, valid) in feed.epoch():
            total += run.step(xyz, valid)
            touched += idx[:2]
        run.calibrate(data.spread(touched[epoch:]))
        print(f"epoch {epoch} loss {float(total) / 4:.3f} spread {float(run.model.spread):.3f}")


if __name__ == "__main__":
    main()
