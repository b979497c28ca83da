import dataclasses
import functools
import itertools

import haiku as hk
import jax
import jax.numpy as jnp
import optax

from layers import language_model
from text import Reader


@dataclasses.dataclass(frozen=True)
class Terms:
    label_smoothing: float = 0.05


class Trainer:
    VOCAB, EXPERTS = 40, 4

    def __init__(self, reader):
        self.reader = reader
        model = functools.partial(language_model, vocab=self.VOCAB, experts=self.EXPERTS)
        self.lm = hk.without_apply_rng(hk.transform(model))
        self.tx = optax.adam(optax.linear_schedule(1e-2, 2e-3, 30))
        first = next(iter(reader))
        self.params = self.lm.init(jax.random.key(0), first.tokens[:, :-1], first.valid, first.slots)
        self.opt = self.tx.init(self.params)
        self.lost_total = 0.0
        self._step = jax.jit(self.gradient_step, static_argnames=("slots", "terms"))

    def gradient_step(self, params, opt, tokens, valid, slots, terms, z_weight):
        def objective(p):
            logits, gate, lost = self.lm.apply(p, tokens[:, :-1], valid, slots)
            target = optax.smooth_labels(jax.nn.one_hot(tokens[:, 1:], self.VOCAB), terms.label_smoothing)
            nll = optax.softmax_cross_entropy(logits, target)
            loss = (nll * valid).sum() / valid.sum()
            loss = loss + z_weight * jnp.mean(jax.nn.logsumexp(gate, -1) ** 2)
            return loss, lost

        (loss, lost), g = jax.value_and_grad(objective, has_aux=True)(params)
        up, opt = self.tx.update(g, opt)
        return optax.apply_updates(params, up), opt, loss, lost

    def z_weight(self, overflow):
        return jnp.float32(1e-3 if overflow > 30.0 else 0.0)

    def train(self, steps):
        stream = itertools.islice(iter(self.reader), steps)
        for i, pack in enumerate(stream):
            z = self.z_weight(self.lost_total)
            self.params, self.opt, loss, lost = self._step(
                self.params, self.opt, pack.tokens, pack.valid, slots=pack.slots, terms=Terms(), z_weight=z
            )
            self.lost_total += float(lost)
            if i % 3 == 0:
                print(f"{i:3d} loss {float(loss):.3f} dropped {self.lost_total:.0f}")


if __name__ == "__main__":
    Trainer(Reader(Trainer.VOCAB, rows=8, width=16, experts=Trainer.EXPERTS)).train(20)
