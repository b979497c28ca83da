import dataclasses
from typing import Any

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import struct

from augment import Compose, Flip, MixUp


@dataclasses.dataclass
class Config:
    classes: int = 5
    side: int = 16
    patch: int = 4
    width: int = 32
    depth: int = 2
    batch: int = 16
    steps: int = 20
    head_only: int = 12


class Block(nn.Module):
    width: int

    @nn.compact
    def __call__(self, x):
        y = nn.LayerNorm()(x)
        x = x + nn.MultiHeadDotProductAttention(num_heads=4)(y, y)
        y = nn.LayerNorm()(x)
        return x + nn.Dense(self.width)(nn.gelu(nn.Dense(2 * self.width)(y)))


class ViT(nn.Module):
    cfg: Any

    @nn.compact
    def __call__(self, images):
        c = self.cfg
        x = images.astype(jnp.float32) / 255.0 - 0.5
        x = nn.Conv(c.width, (c.patch, c.patch), (c.patch, c.patch), name="patchify")(x)
        x = x.reshape(x.shape[0], -1, c.width)
        x = x + self.param("pos", nn.initializers.normal(0.02), (1, x.shape[1], c.width))
        for i in range(c.depth):
            x = Block(c.width, name=f"block{i}")(x)
        return nn.Dense(c.classes, name="head")(x.mean(1))


class State(struct.PyTreeNode):
    params: Any
    opt: Any
    apply: Any = struct.field(pytree_node=False)
    tx: Any = struct.field(pytree_node=False)


@jax.jit
def train_step(state, images, labels, body_gain):
    def loss_fn(p):
        return optax.softmax_cross_entropy(state.apply({"params": p}, images), labels).mean()
    loss, grads = jax.value_and_grad(loss_fn)(state.params)
    grads = {k: g if k == "head" else jax.tree.map(lambda v: v * body_gain, g) for k, g in grads.items()}
    upd, opt = state.tx.update(grads, state.opt, state.params)
    return state.replace(params=optax.apply_updates(state.params, upd), opt=opt), loss


@jax.jit
def eval_step(state, images, labels):
    return jnp.mean(state.apply({"params": state.params}, images).argmax(-1) == labels)


def leaves(cfg, n, rng):
    labels = rng.integers(0, cfg.classes, n)
    base = rng.integers(0, 120, (n, cfg.side, cfg.side, 3))
    base[..., 1] += (labels * 25)[:, None, None]
    return base.astype(np.uint8), labels.astype(np.int32)


def body_gain(step, cfg):
    return np.float32(step >= cfg.head_only)


def main():
    cfg, rng = Config(), np.random.default_rng(0)
    images, labels = leaves(cfg, 128, rng)
    model = ViT(cfg)
    params = model.init(jax.random.key(0), images[:1])["params"]
    tx = optax.adamw(3e-3)
    state = State(params=params, opt=tx.init(params), apply=model.apply, tx=tx)
    mixup = MixUp(cfg.classes)
    transform = Compose(Flip(), mixup)
    val = leaves(cfg, 32, np.random.default_rng(99))
    print("start acc", float(eval_step(state, *val)))
    for step in range(cfg.steps):
        rows = rng.choice(len(images), cfg.batch, replace=False)
        x, y = transform(images[rows], labels[rows], rng)
        state, loss = train_step(state, x, y, body_gain(step, cfg))
        if step % 5 == 4:
            print(f"{step} loss {float(loss):.4f} acc {float(eval_step(state, *val)):.3f} mixed {mixup.applied}")


if __name__ == "__main__":
    main()
