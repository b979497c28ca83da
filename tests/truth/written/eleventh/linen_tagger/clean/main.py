from types import SimpleNamespace

import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax.training.train_state import TrainState

from data import TAGS, VOCAB, Batches, make_corpus
from model import Tagger

cfg = SimpleNamespace(
    epochs=4, batch=32, lr=3e-3, drop_from=3, drop_gain=0.1, drop_cap=0.3, clip=1.0
)


def masked_xent(logits, tags, mask):
    nll = optax.softmax_cross_entropy_with_integer_labels(logits, tags)
    return (nll * mask).sum() / mask.sum()


@jax.jit
def fit_batch(state, batch, drop, key):
    def loss_fn(p):
        logits = state.apply_fn(
            {"params": p}, batch["tokens"], drop, rngs={"dropout": key}
        )
        return masked_xent(logits, batch["tags"], batch["mask"])

    loss, grads = jax.value_and_grad(loss_fn)(state.params)
    return state.apply_gradients(grads=grads), loss


class Regularizer:
    def __init__(self, cfg):
        self.cfg = cfg

    def level(self, epoch):
        if epoch < self.cfg.drop_from:
            return 0.0
        return min(self.cfg.drop_cap, self.cfg.drop_gain * (epoch - self.cfg.drop_from + 1))


class Loop:
    def __init__(self, cfg):
        self.cfg = cfg
        self.net = Tagger(VOCAB, TAGS)
        self.reg = Regularizer(cfg)
        train, dev = make_corpus(120, 1), make_corpus(64, 2)
        self.train = Batches(train, cfg.batch, seed=7)
        self.dev = Batches(dev, cfg.batch)
        params = self.net.init(jax.random.key(0), train["tokens"][:1])["params"]
        sched = optax.cosine_decay_schedule(cfg.lr, 40)
        tx = optax.chain(optax.clip_by_global_norm(cfg.clip), optax.adam(sched))
        self.state = TrainState.create(apply_fn=self.net.apply, params=params, tx=tx)
        self.predict = jax.jit(self.net.apply)

    def start_epoch(self, epoch):
        self.drop = np.float32(self.reg.level(epoch))

    def dev_accuracy(self):
        hit = tot = 0.0
        for b in self.dev:
            guess = np.asarray(self.predict({"params": self.state.params}, b["tokens"])).argmax(-1)
            hit += ((guess == b["tags"]) * b["mask"]).sum()
            tot += b["mask"].sum()
        return hit / tot

    def run(self):
        key = jax.random.key(5)
        print("dev before", round(float(self.dev_accuracy()), 3))
        for epoch in range(self.cfg.epochs):
            self.start_epoch(epoch)
            losses = []
            for batch in self.train:
                key, sub = jax.random.split(key)
                self.state, loss = fit_batch(self.state, batch, self.drop, sub)
                losses.append(float(loss))
            print(f"epoch {epoch} loss {np.mean(losses):.3f} dev {self.dev_accuracy():.3f}")


if __name__ == "__main__":
    Loop(cfg).run()
