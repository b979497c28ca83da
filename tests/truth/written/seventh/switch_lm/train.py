import functools
import logging

import haiku as hk
import jax
import jax.numpy as jnp
import optax

import data
import moe

log = logging.getLogger("switch")
WIDTH = 32


def network(tokens, capacity):
    b, t = tokens.shape
    x = hk.Embed(data.VOCAB, WIDTH)(tokens) + hk.get_parameter(
        "pos", (t, WIDTH), init=hk.initializers.RandomNormal(0.02))
    shifted = jnp.pad(x, ((0, 0), (1, 0), (0, 0)))[:, :-1]
    h = hk.LayerNorm(-1, True, True)(x + hk.Linear(WIDTH)(shifted)).reshape(b * t, WIDTH)
    real = (tokens != 0).reshape(-1).astype(jnp.float32)
    y, balance, load = moe.SwitchFFN(WIDTH, 64, capacity)(h, real)
    return hk.Linear(data.VOCAB)(h + y).reshape(b, t, -1), balance, load


class Trainer:
    def __init__(self, lr=3e-3, report_every=5):
        self.net = hk.without_apply_rng(hk.transform(network))
        self.tx = optax.adam(lr)
        self.report_every = report_every
        self.loads = []

    def setup(self, batch):
        self.params = self.net.init(jax.random.PRNGKey(0), batch.tokens, 8)
        self.opt_state = self.tx.init(self.params)

    @functools.lru_cache(maxsize=None)
    def compiled(self, capacity):
        def objective(params, tokens):
            logits, balance, load = self.net.apply(params, tokens, capacity)
            mask = (tokens[:, 1:] != 0).astype(jnp.float32)
            ce = optax.softmax_cross_entropy_with_integer_labels(logits[:, :-1], tokens[:, 1:])
            return jnp.sum(ce * mask) / mask.sum() + 0.01 * balance, load

        @functools.partial(jax.jit, static_argnames=("detail",))
        def update(params, opt_state, tokens, detail=False):
            (loss, load), grads = jax.value_and_grad(objective, has_aux=True)(params, tokens)
            upd, opt_state = self.tx.update(grads, opt_state)
            params = optax.apply_updates(params, upd)
            extras = {}
            if detail:
                extras = {"load": load / load.sum(), "gnorm": optax.global_norm(grads)}
            return params, opt_state, loss, extras

        return update

    def fit(self, stream, steps):
        for step in range(steps):
            batch = next(stream)
            update = self.compiled(moe.slots(batch.real))
            due = step % self.report_every == self.report_every - 1
            self.params, self.opt_state, loss, extras = update(
                self.params, self.opt_state, batch.tokens, detail=due)
            if due:
                self.loads.append(extras["load"])
                log.info("step %d loss %.4f gnorm %.3f", step, loss, extras["gnorm"])


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO, format="%(name)s %(message)s")
    stream = data.batched(data.documents(3), 4)
    trainer = Trainer()
    trainer.setup(next(stream))
    trainer.fit(stream, 13)
    print("reports", len(trainer.loads))
