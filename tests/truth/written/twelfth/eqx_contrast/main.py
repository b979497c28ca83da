import argparse

import equinox as eqx
import jax
import numpy as np
import optax

from encoder import Anneal, Encoder, info_nce
from mining import Pairs


def get_args(argv=None):
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=3)
    p.add_argument("--steps", type=int, default=4)
    p.add_argument("--dim", type=int, default=10)
    p.add_argument("--lr", type=float, default=1e-2)
    return p.parse_args(argv)


def make_update(tx):
    @eqx.filter_jit
    def update(model, opt_state, a, p, n):
        loss, grads = eqx.filter_value_and_grad(info_nce)(model, a, p, n)
        delta, opt_state = tx.update(grads, opt_state, eqx.filter(model, eqx.is_inexact_array))
        return eqx.apply_updates(model, delta), opt_state, loss
    return update


@eqx.filter_jit
def alignment(layers, a, p):
    f = lambda x: layers[1](jax.nn.relu(layers[0](x)))
    return ((jax.vmap(f)(a) - jax.vmap(f)(p)) ** 2).mean()


def main():
    args = get_args()
    model = Encoder(args.dim, 8, key=jax.random.PRNGKey(0))
    tx = optax.adam(args.lr)
    opt_state = tx.init(eqx.filter(model, eqx.is_inexact_array))
    update = make_update(tx)
    anneal = Anneal()
    data = Pairs(args.dim, 12)
    probe = data.views()
    for epoch in range(args.epochs):
        model = anneal(model, epoch / (args.epochs - 1))
        losses = []
        for _ in range(args.steps):
            a, p = data.views()
            n = data.negatives(a, data.pool())
            model, opt_state, loss = update(model, opt_state, a, p, n)
            losses.append(float(loss))
        print(epoch, f"loss {np.mean(losses):.4f} align {float(alignment(model.layers, *probe)):.4f}")


if __name__ == "__main__":
    main()
