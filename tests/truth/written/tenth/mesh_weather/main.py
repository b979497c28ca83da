import argparse
import bisect

import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax.training import train_state

from archive import Windows, build
from gnn import MeshCast, knn_graph


class LeadCurriculum:
    def __init__(self, milestones=(7,)):
        self.milestones = milestones

    def __call__(self, update):
        return 1 + bisect.bisect_right(self.milestones, update)


def make_step(graph):
    @jax.jit
    def train_step(state, window):
        def loss_fn(params):
            x, total = window["x0"], 0.0
            for target in window["targets"]:
                x = state.apply_fn({"params": params}, x, window["solar"], *graph)
                total = total + jnp.square(x - target).mean()
            return total / len(window["targets"])

        loss, grads = jax.value_and_grad(loss_fn)(state.params)
        return state.apply_gradients(grads=grads), loss

    @jax.jit
    def one_day(state, x0, solar, truth):
        pred = state.apply_fn({"params": state.params}, x0, solar, *graph)
        return jnp.sqrt(jnp.square(pred - truth).mean())

    return train_step, one_day


def parse():
    ap = argparse.ArgumentParser()
    ap.add_argument("--updates", type=int, default=17)
    ap.add_argument("--stride", type=int, default=3)
    return ap.parse_args()


def main():
    opts = parse()
    archive, pos = build()
    graph = knn_graph(pos)
    windows, curriculum = Windows(archive), LeadCurriculum()
    first = windows.sample(0)
    net = MeshCast()
    params = jax.jit(net.init)(jax.random.PRNGKey(0), first["x0"], first["solar"], *graph)["params"]
    tx = optax.adamw(optax.cosine_decay_schedule(6e-3, opts.updates))
    state = train_state.TrainState.create(apply_fn=net.apply, params=params, tx=tx)
    train_step, one_day = make_step(graph)
    for u in range(opts.updates):
        windows.lead = curriculum(u)
        state, loss = train_step(state, windows.sample(u * opts.stride))
        if u % 5 == 4:
            held = windows.sample(2)
            rmse = one_day(state, held["x0"], held["solar"], held["targets"][0])
            print(f"update {u + 1:2d} lead {windows.lead} loss {float(loss):.4f} rmse {float(rmse):.4f}")


if __name__ == "__main__":
    main()
