import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax

from net import RoadNet, smooth
from roads import City


class Smoother:
    def __init__(self, tau=0.2):
        self.tau = np.float32(tau)
        self.method = "direct"

    def __call__(self, snap, field):
        out = np.asarray(smooth(snap.lap, field, self.tau, self.method))
        if not np.isfinite(out).all():
            self.method = "iterative"
            out = np.asarray(smooth(snap.lap, field, self.tau, self.method))
        return out


tx = optax.adam(5e-3)


@eqx.filter_jit
def learn(net, opt, speed, target, src, dst):
    def loss_fn(n):
        return jnp.mean((n(speed, src, dst) - target) ** 2)

    loss, g = eqx.filter_value_and_grad(loss_fn)(net)
    up, opt = tx.update(g, opt)
    return eqx.apply_updates(net, up), opt, loss


def main():
    city, net = City(), RoadNet(jax.random.key(2))
    opt = tx.init(eqx.filter(net, eqx.is_inexact_array))
    smoother = Smoother()
    for hour in range(24):
        snap = city.hour(hour)
        goal = smoother(snap, snap.target)
        net, opt, loss = learn(net, opt, snap.speed, goal, snap.src, snap.dst)
        if hour % 4 == 3:
            print(f"{hour:02d}h roads={len(snap.src)} loss={float(loss):.4f}")
        smoother.tau = np.float32(0.2 + 0.001 * hour)


if __name__ == "__main__":
    main()
