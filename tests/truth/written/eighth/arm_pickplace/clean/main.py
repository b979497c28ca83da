import argparse

import jax
import jax.numpy as jnp
import optax

from data import ChunkSampler, DemoStore
from hooks import Console, DriftMeter, OperatorNotes, ReachSchedule


def init_policy(key, sizes):
    layers = []
    for fan_in, fan_out in zip(sizes[:-1], sizes[1:]):
        key, sub = jax.random.split(key)
        w = jax.random.normal(sub, (fan_in, fan_out)) / jnp.sqrt(fan_in)
        layers.append({"w": w, "b": jnp.zeros(fan_out)})
    return layers


def policy(params, x):
    for layer in params[:-1]:
        x = jax.nn.relu(x @ layer["w"] + layer["b"])
    return jnp.tanh(x @ params[-1]["w"] + params[-1]["b"])


def make_update(tx):
    def loss_fn(params, batch):
        target = jnp.clip(batch["act"] + batch["correction"], -1.0, 1.0)
        err = jnp.mean((policy(params, batch["obs"]) - target) ** 2, axis=-1)
        return jnp.sum(err * batch["used"]) / jnp.sum(batch["used"])

    def bc_update(params, opt_state, batch):
        loss, grads = jax.value_and_grad(loss_fn)(params, batch)
        updates, opt_state = tx.update(grads, opt_state, params)
        return optax.apply_updates(params, updates), opt_state, loss

    return bc_update


class Trainer:
    def __init__(self, params, tx, sampler, hooks):
        self.params = params
        self.opt_state = tx.init(params)
        self.sampler = sampler
        self.hooks = hooks
        self.step = self.epoch = 0
        self._run = jax.jit(make_update(tx), donate_argnums=(0, 1))

    def fit(self, epochs, steps):
        batches = iter(self.sampler)
        for self.epoch in range(epochs):
            for _ in range(steps):
                batch = next(batches)
                for h in self.hooks:
                    batch = h.on_batch(self, batch)
                for h in self.hooks:
                    h.before_step(self, self.params)
                self.params, self.opt_state, loss = self._run(self.params, self.opt_state, batch)
                for h in self.hooks:
                    h.after_step(self, loss)
                self.step += 1
            for h in self.hooks:
                h.after_epoch(self)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=5)
    ap.add_argument("--steps", type=int, default=4)
    ap.add_argument("--lr", type=float, default=3e-3)
    args = ap.parse_args()

    store = DemoStore.synthetic(demos=24, ticks=80, obs_dim=10, act_dim=4)
    sampler = ChunkSampler(store, batch=16, chunk=8, longest=18)
    meter = DriftMeter(every=6)
    hooks = [Console(), meter, OperatorNotes(first_day=3, act_dim=4), ReachSchedule(stride=5, longest=18)]
    tx = optax.chain(optax.clip_by_global_norm(1.0), optax.adam(args.lr))
    trainer = Trainer(init_policy(jax.random.key(0), (10, 32, 32, 4)), tx, sampler, hooks)
    trainer.fit(args.epochs, args.steps)
    print("moved", [round(r, 4) for r in meter.readings])


if __name__ == "__main__":
    main()
