import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax.training.train_state import TrainState

from chains import ChainSet
from model import StructureNet
from settings import Settings


def make_tx(optim, epoch):
    return optax.inject_hyperparams(optax.adamw)(
        learning_rate=optim.rate(epoch), weight_decay=optim.weight_decay)


@jax.jit
def learn(state, batch):
    def loss_fn(params):
        logits = state.apply_fn({"params": params}, batch["tokens"], batch["valid"])
        ce = optax.softmax_cross_entropy_with_integer_labels(logits, batch["labels"])
        n = batch["valid"].sum()
        hits = (logits.argmax(-1) == batch["labels"]) & batch["valid"]
        return jnp.sum(ce * batch["valid"]) / n, hits.sum() / n

    (loss, q3), grads = jax.value_and_grad(loss_fn, has_aux=True)(state.params)
    return state.apply_gradients(grads=grads), {"loss": loss, "q3": q3}


class Runner:
    def __init__(self, cfg):
        self.cfg = cfg
        self.data = ChainSet(cfg)
        self.rng = np.random.default_rng(1)
        net = StructureNet(len(cfg.alphabet) + 1, cfg.width, cfg.states)
        dummy = np.zeros((1, cfg.max_residues), np.int32)
        params = jax.jit(net.init)(jax.random.PRNGKey(0), dummy, dummy > 0)["params"]
        self.state = TrainState.create(apply_fn=net.apply, params=params, tx=make_tx(cfg.optim, 0))

    def on_epoch_start(self, epoch):
        if epoch:
            self.state.opt_state.hyperparams["learning_rate"] = np.float32(self.cfg.optim.rate(epoch))

    def run(self):
        for epoch in range(self.cfg.epochs):
            self.on_epoch_start(epoch)
            tally = []
            for batch in self.data.batches(self.rng):
                self.state, metrics = learn(self.state, batch)
                tally.append(metrics)
            tally = jax.device_get(tally)
            print(epoch, *(f"{k}={np.mean([m[k] for m in tally]):.3f}" for k in ("loss", "q3")))


if __name__ == "__main__":
    Runner(Settings()).run()
