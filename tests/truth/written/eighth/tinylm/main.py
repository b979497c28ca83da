import jax
import jax.numpy as jnp
import numpy as np
import optax

import config
import model
from checkpoint import Vault


@jax.jit
def micro_step(params, acc, tokens):
    loss, grads = jax.value_and_grad(model.xent)(params, tokens)
    if acc is not None:
        grads = jax.tree.map(jnp.add, acc, grads)
    return grads, loss


@jax.jit
def next_token(params, tokens):
    return jnp.argmax(model.forward(params, tokens)[:, -1], axis=-1)


class Shards:
    def __init__(self, cfg, damaged=()):
        self.cfg, self.damaged = cfg, set(damaged)
        self.rng = np.random.default_rng(0)

    def read(self, step):
        v, n = self.cfg.model.vocab, self.cfg.model.context + 1
        for _ in range(self.cfg.optim.micro):
            first = self.rng.integers(0, v, size=(8, 1))
            rows = (first + 5 * np.arange(n)) % v
            if step in self.damaged:
                rows = self.rng.integers(0, v, size=rows.shape)
            yield rows.astype(np.int32)


class Runner:
    def __init__(self, cfg):
        self.cfg = cfg
        self.shards = Shards(cfg, damaged=(10,))
        self.vault = Vault()
        self.tx = optax.adam(cfg.optim.lr)
        self.params = model.init(jax.random.key(1), cfg.model)
        self.opt_state = self.tx.init(self.params)
        self.apply = jax.jit(self._apply)
        self.trace = []

    def _apply(self, params, opt_state, grads):
        grads = jax.tree.map(lambda g: g / self.cfg.optim.micro, grads)
        upd, opt_state = self.tx.update(grads, opt_state, params)
        return optax.apply_updates(params, upd), opt_state

    def one(self, step):
        acc, losses = None, []
        for tokens in self.shards.read(step):
            acc, loss = micro_step(self.params, acc, tokens)
            losses.append(loss)
        loss = float(np.mean(jax.device_get(losses)))
        if self.trace and loss > self.cfg.run.spike * min(self.trace[-3:]):
            self.params, self.opt_state = self.vault.get()
            print(f"step {step}: loss {loss:.3f}, back to {self.vault.at}")
            return
        self.trace.append(loss)
        self.params, self.opt_state = self.apply(self.params, self.opt_state, acc)
        if step % self.cfg.run.snapshot_every == 0:
            self.vault.put(step, (self.params, self.opt_state))

    def preview(self, prompt):
        text = np.asarray(prompt, np.int32)[None]
        for _ in range(self.cfg.run.preview_tokens):
            nxt = np.asarray(next_token(self.params, text))
            text = np.concatenate([text, nxt[:, None]], axis=1)
        return text[0].tolist()

    def run(self):
        for step in range(self.cfg.run.steps):
            self.one(step)
            if step % self.cfg.run.preview_every == self.cfg.run.preview_every - 1:
                print(f"step {step} loss {self.trace[-1]:.3f} {self.preview([1, 6, 11])}")


if __name__ == "__main__":
    Runner(config.load()).run()
