import argparse
import math
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import optax

from corpus import batches
from layers import LM


def parse():
    ap = argparse.ArgumentParser()
    ap.add_argument("--steps", type=int, default=30)
    ap.add_argument("--lr", type=float, default=5e-3)
    ap.add_argument("--capacity-factor", type=float, default=1.25)
    return ap.parse_args()


def expert_slots(batch, factor, n_experts):
    tokens = int(batch["valid"].sum())
    return 4 * math.ceil(factor * tokens / n_experts / 4)


def main(args):
    lm = LM()
    tx = optax.adam(args.lr)

    def loss_fn(p, b, slots):
        logits, dropped = lm.apply(p, b["tokens"], b["valid"], slots, b.get("segment"))
        ce = optax.softmax_cross_entropy_with_integer_labels(logits[:, :-1], b["tokens"][:, 1:])
        w = b["valid"][:, 1:]
        return (ce * w).sum() / w.sum(), dropped

    @partial(jax.jit, static_argnames="slots", donate_argnums=(0, 1))
    def step(p, o, b, slots):
        (l, dropped), g = jax.value_and_grad(loss_fn, has_aux=True)(p, b, slots)
        u, o = tx.update(g, o)
        return optax.apply_updates(p, u), o, {"loss": l, "dropped": dropped}

    stream = batches(args.steps)
    first = next(stream)
    p = jax.jit(lm.init, static_argnums=3)(jax.random.key(0), first["tokens"], first["valid"], 8)
    o = jax.jit(tx.init)(p)
    hist = []
    for b in stream:
        slots = expert_slots(b, args.capacity_factor, lm.n_experts)
        p, o, m = step(p, o, b, slots=slots)
        hist.append(m)
    hist = jax.device_get(hist)
    print(f"loss {hist[0]['loss']:.3f} -> {hist[-1]['loss']:.3f}, dropped {sum(h['dropped'] for h in hist):.0f}")


if __name__ == "__main__":
    main(parse())
