import argparse
import functools

import jax
import jax.numpy as jnp
import numpy as np
import optax

from experts import Nowcaster, buffer_size
from stations import FEATURES, ROSTER, reports


def parse(argv=None):
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--hours", type=int, default=16)
    p.add_argument("--slack", type=float, default=1.25)
    p.add_argument("--balance", type=float, default=1e-2)
    p.add_argument("--spike", type=float, default=1.35, help="loss ratio treated as a sensor glitch")
    return p.parse_args(argv)


def build(args):
    net = Nowcaster()
    tx = optax.adam(optax.warmup_cosine_decay_schedule(0.0, 5e-3, 5, args.hours))

    @functools.partial(jax.jit, static_argnames=("capacity",))
    def assimilate(params, opt_state, x, y, alive, capacity, watch):
        def objective(p):
            pred, aux = net.apply({"params": p}, x, alive, capacity)
            err = pred - y
            per = jnp.where(watch[1], optax.losses.huber_loss(err, delta=0.2), err**2)
            fit = jnp.sum(per * alive) / jnp.sum(alive)
            return fit + args.balance * aux["balance"], (jnp.sum(err**2 * alive) / jnp.sum(alive), aux)

        (_, (mse, aux)), g = jax.value_and_grad(objective, has_aux=True)(params)
        updates, opt_state = tx.update(g, opt_state)
        floor, robust = watch
        robust = jnp.where(mse < floor, False, robust | (mse > args.spike * floor))
        watch = (jnp.minimum(floor, mse), robust)
        return optax.apply_updates(params, updates), opt_state, mse, aux, watch

    return net, tx, assimilate


def main():
    args = parse()
    net, tx, assimilate = build(args)
    init = jax.jit(net.init, static_argnums=3)
    cap0 = buffer_size(ROSTER, net.experts, args.slack)
    params = init(jax.random.PRNGKey(0), np.zeros((ROSTER, FEATURES), np.float32), np.ones(ROSTER, bool), cap0)["params"]
    opt_state = jax.jit(tx.init)(params)
    watch, trail = (np.float32(np.inf), np.bool_(False)), []
    for x, y, alive in reports(args.hours, seed=2):
        capacity = buffer_size(ROSTER, net.experts, args.slack)
        params, opt_state, mse, aux, watch = assimilate(params, opt_state, x, y, alive, capacity, watch)
        trail.append((mse, aux["dropped"]))
    for hour, (mse, dropped) in enumerate(jax.device_get(trail)):
        if hour % 6 == 5:
            print(f"hour {hour:02d} mse {mse:.4f} dropped {dropped:.3f}")


if __name__ == "__main__":
    main()
