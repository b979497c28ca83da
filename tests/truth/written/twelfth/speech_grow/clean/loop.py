from functools import partial

import jax
import jax.numpy as jnp
import optax


@partial(jax.jit, static_argnames=("net", "tx"))
def train_step(params, opt, x, y, active, *, net, tx):
    def loss_fn(p):
        logits = net.apply({"params": p}, x, active)
        return optax.softmax_cross_entropy_with_integer_labels(logits, y).mean()

    loss, grads = jax.value_and_grad(loss_fn)(params)
    upd, opt = tx.update(grads, opt, params)
    extras = {"loss": loss, "rms": jax.tree.map(lambda g: jnp.sqrt(jnp.mean(g ** 2)), grads)}
    return optax.apply_updates(params, upd), opt, extras


class Reporter:
    def __init__(self, every):
        self.every = every

    def due(self, n):
        return n % self.every == self.every - 1

    def show(self, n, extras):
        msg = f"step {n} loss {float(extras['loss']):.4f}"
        if self.due(n):
            msg += f" head rms {float(extras['rms']['head']['kernel']):.5f}"
        print(msg)


class Loop:
    def __init__(self, net, params, reporter):
        self.net, self.params, self.reporter = net, params, reporter
        self.tx = optax.adam(optax.linear_schedule(1e-2, 1e-3, 20))
        self.opt = self.tx.init(params)
        self.done = 0
        self.examples = 0

    def active(self):
        return min(4, 2 + self.done // 6)

    def run(self, clips, n):
        for _ in range(n):
            x, y = clips.take()
            self.params, self.opt, extras = train_step(self.params, self.opt, x, y, self.active(), net=self.net, tx=self.tx)
            self.reporter.show(self.done, extras)
            self.done += 1
            self.examples += len(y)
