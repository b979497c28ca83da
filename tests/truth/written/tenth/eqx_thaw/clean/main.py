import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from model import Tagger, thaw_spec
from steps import OPT, Meter, apply_update, micro_step, record

VOCAB, CLASSES, LENGTH = 40, 5, 12


def corpus(batch, seed):
    rng = np.random.default_rng(seed)
    while True:
        tok = rng.integers(1, VOCAB, (batch, LENGTH)).astype(np.int32)
        n = rng.integers(6, LENGTH + 1, batch)
        valid = np.arange(LENGTH)[None] < n[:, None]
        yield {"tokens": np.where(valid, tok, 0), "labels": tok % CLASSES, "valid": valid}


class GradualThaw:
    """Every weight is an operand of the step; `open_` holds one 0/1 factor a leaf."""

    def __init__(self, model, at_epochs):
        self.at_epochs = at_epochs
        self.depth = 0
        self.trainable, self.frozen = eqx.partition(model, eqx.is_inexact_array)
        self.opt_state = OPT.init(self.trainable)
        self.open_ = self.factors()

    def factors(self):
        model = eqx.combine(self.trainable, self.frozen)
        spec, _ = eqx.partition(thaw_spec(model, self.depth), jax.tree.map(eqx.is_inexact_array, model))
        return jax.tree.map(np.float32, spec)

    def start_epoch(self, epoch):
        if epoch in self.at_epochs:
            self.depth += 1
            self.opt_state = OPT.init(self.trainable)
            self.open_ = self.factors()


def main(epochs=3, updates=3, micro=3):
    stream = corpus(6, 0)
    stage = GradualThaw(Tagger(VOCAB, 16, 2, CLASSES, key=jax.random.PRNGKey(0)), at_epochs={3})
    for epoch in range(1, epochs + 1):
        stage.start_epoch(epoch)
        meter = Meter(jnp.zeros(()), jnp.int32(0))
        for _ in range(updates):
            acc = jax.tree.map(jnp.zeros_like, stage.trainable)
            for _ in range(micro):
                acc, loss = micro_step(stage.trainable, stage.frozen, acc, next(stream))
                meter, running = record(meter, loss)
            stage.trainable, stage.opt_state = apply_update(stage.trainable, stage.opt_state, acc, jnp.float32(1 / micro), stage.open_)
        n = sum(x.size * int(o) for x, o in zip(jax.tree.leaves(stage.trainable), jax.tree.leaves(stage.open_)))
        print(f"epoch {epoch} trainable {n} loss {meter.mean:.4f} running {float(running):.4f}")


if __name__ == "__main__":
    main()
