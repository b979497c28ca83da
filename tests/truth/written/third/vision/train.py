import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax.training import train_state

import augment
from data import Loader, blobs

CONFIG = {
    "optim": {"lr": 3e-3, "wd": 1e-4},
    "batch": 64,
    "phases": [
        {"epochs": 2, "aug": ["flip"]},
        {"epochs": 1, "aug": ["flip", "shift"]},
        {"epochs": 2, "aug": ["flip", "shift", "mixup"]},
    ],
}


class Net(nn.Module):
    width: int = 8

    @nn.compact
    def __call__(self, x, train: bool):
        x = nn.Conv(self.width, (3, 3))(x)
        x = nn.BatchNorm(use_running_average=not train, momentum=0.9)(x)
        x = nn.relu(x)
        x = nn.avg_pool(x, (2, 2), (2, 2))
        x = nn.relu(nn.Conv(2 * self.width, (3, 3))(x))
        return nn.Dense(10)(x.mean((1, 2)))


class State(train_state.TrainState):
    stats: dict


def xent(logits, label):
    if label.ndim == 1:
        label = jax.nn.one_hot(label, 10)
    return optax.softmax_cross_entropy(logits, label).mean()


@jax.jit
def train_step(state, batch):
    def f(p):
        out, upd = state.apply_fn({"params": p, "batch_stats": state.stats}, batch["image"], True,
                                  mutable=["batch_stats"])
        return xent(out, batch["label"]), upd

    (loss, upd), g = jax.value_and_grad(f, has_aux=True)(state.params)
    return state.apply_gradients(grads=g).replace(stats=upd["batch_stats"]), loss


@jax.jit
def predict(state, image):
    v = {"params": state.params, "batch_stats": state.stats}
    return state.apply_fn(v, image, False).argmax(-1)


def main(cfg=CONFIG):
    rng = np.random.default_rng(7)
    x, y = blobs()
    xv, yv = blobs(128, seed=1)
    net = Net()
    v = jax.jit(net.init, static_argnums=2)(jax.random.PRNGKey(0), x[:1], False)
    tx = optax.adamw(cfg["optim"]["lr"], weight_decay=cfg["optim"]["wd"])
    state = jax.jit(lambda v: State.create(apply_fn=net.apply, params=v["params"], tx=tx, stats=v["batch_stats"]))(v)
    acc = [float((np.asarray(predict(state, xv)) == yv).mean())]
    for phase in cfg["phases"]:
        loader = Loader(x, y, cfg["batch"], rng, augment.build(phase["aug"]))
        for _ in range(phase["epochs"]):
            losses = []
            for batch in loader:
                state, loss = train_step(state, batch)
                losses.append(loss)
            acc.append(float((np.asarray(predict(state, xv)) == yv).mean()))
    print("val acc " + " ".join(f"{a:.2f}" for a in acc), f"loss {np.mean(jax.device_get(losses)):.2f}")


if __name__ == "__main__":
    main()
