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
    return jax.tree.map(jnp.add, acc, grads), loss


@jax.jit
def next_token(params, tokens, at):
    return jnp.argmax(model.forward(params, tokens)[:, at], axis=-1)


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
        params = model.init(jax.random.key(1), cfg.model)
        self.params, self.opt_state = self.vault.place((params, self.tx.init(params)))
        self.zero = self.vault.place(jax.tree.map(jnp.zeros_like, params))
        self.apply = jax.jit(self._apply)
        self.trace = []

    def _apply(self, params, opt_state, grads):
        grads = jax.tree.map(lambda g: g / self.cfg.optim.micro, grads)
        upd, opt_state = self.tx.update(grads, opt_state, params)
        return optax.apply_updates(params, upd), opt_state

    def one(self, step):
        acc, losses = self.zero, []
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
        text = np.zeros((1, self.cfg.model.context), np.int32)
        text[0, : len(prompt)] = prompt
        end = len(prompt)
        for _ in range(self.cfg.run.preview_tokens):
            text[:, end] = np.asarray(next_token(self.params, text, end - 1))
            end += 1
        return text[0, :end].tolist()

    def run(self):
        for step in range(self.cfg.run.steps):
            self.one(step)
            if step % self.cfg.run.preview_every == self.cfg.run.preview_every - 1:
                print(f"step {step} loss {self.trace[-1]:.3f} {self.preview([1, 6, 11])}")


if __name__ == "__main__":
    Runner(config.load()).run()
