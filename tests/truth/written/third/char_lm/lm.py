from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax

import hooks

TEXT = "the quick brown fox jumps over the lazy dog. pack my box with five dozen liquor jugs. " * 12
VOCAB = sorted(set(TEXT))
H = 24


class LM(NamedTuple):
    emb: jax.Array
    wx: jax.Array
    wh: jax.Array
    out: jax.Array

    @classmethod
    def create(cls, g):
        n = lambda *s: (g.normal(size=s) / np.sqrt(s[0])).astype(np.float32)
        return jax.device_put(cls(n(len(VOCAB), H), n(H, H), n(H, H), n(H, len(VOCAB))))


def nll(m, x):
    def cell(h, t):
        h = jnp.tanh(m.emb[t] @ m.wx + h @ m.wh)
        return h, h @ m.out
    _, logits = jax.lax.scan(cell, jnp.zeros((x.shape[0], H)), x[:, :-1].T)
    return optax.softmax_cross_entropy_with_integer_labels(logits, x[:, 1:].T).mean()


def optimiser(c):
    sched = optax.warmup_cosine_decay_schedule(0.0, c["lr"], c["warmup"], c["steps"])
    label = LM("slow", "fast", "fast", "fast")
    body = lambda s: optax.chain(optax.scale_by_adam(), optax.scale_by_schedule(lambda i: -s * sched(i)))
    return optax.chain(optax.adaptive_grad_clip(0.5), optax.multi_transform({"slow": body(0.3), "fast": body(1.0)}, label))


def trainer(tx):
    @partial(jax.jit, static_argnums=3, donate_argnums=(0, 1))
    def update(m, s, x, want):
        l, g = jax.value_and_grad(nll)(m, x)
        up, s = tx.update(g, s, m)
        info = {"loss": l}
        if "layer_norms" in want:
            info |= {"norm/" + k: jnp.linalg.norm(v) for k, v in g._asdict().items()}
            info["ratio"] = optax.global_norm(up) / optax.global_norm(m)
        return optax.apply_updates(m, up), s, info
    return update


def chunks(g, length, n=16):
    ids = np.array([VOCAB.index(c) for c in TEXT], np.int32)
    while True:
        at = g.integers(0, len(ids) - length - 1, n)
        yield np.stack([ids[a:a + length + 1] for a in at])


def main():
    c = hooks.parse(hooks.CONF)
    g = np.random.default_rng(c["data"]["seed"])
    m, tx, want = LM.create(g), optimiser(c["train"]), hooks.Wanted(c["log"])
    s, update, rows = jax.jit(tx.init)(m), trainer(tx), []
    for step, x in zip(range(c["train"]["steps"]), chunks(g, c["train"]["unroll"])):
        m, s, info = update(m, s, x, want(step))
        rows.append(info)
    print("loss %.3f  grad norm of wh %.3f" % (hooks.average(rows[-4:], "loss"), hooks.average(rows, "norm/wh")))


if __name__ == "__main__":
    main()
