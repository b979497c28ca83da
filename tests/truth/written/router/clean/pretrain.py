"""Trains the layer of experts to undo a rotation."""
import functools
import time

import jax
import jax.numpy as jnp
import numpy as np

import experts

TOKENS, WIDTH, EXPERTS = 64, 8, 4


def timed(log):
    def decorate(fn):
        @functools.wraps(fn)
        def wrapper(*args, **kwargs):
            begin = time.perf_counter()
            try:
                return fn(*args, **kwargs)
            finally:
                log.append(time.perf_counter() - begin)
        return wrapper
    return decorate


clock = []


class Packed:
    """Rows of tokens; the tail of a pack is padding."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.turn = np.linalg.qr(self.rng.standard_normal((WIDTH, WIDTH)))[0].astype(np.float32)

    def packs(self, count):
        for _ in range(count):
            x = self.rng.standard_normal((TOKENS, WIDTH)).astype(np.float32)
            filled = int(self.rng.integers(TOKENS // 2, TOKENS))
            yield x, x @ self.turn, np.arange(TOKENS) < filled


@functools.partial(jax.jit, static_argnums=(4,))
def gradients(params, x, y, used, slots):
    def loss(params):
        miss = experts.apply(params, x, used, slots) - y
        return jnp.sum(used[:, None] * miss ** 2) / jnp.sum(used)
    return jax.value_and_grad(loss)(params)


@jax.jit
def move(params, grads, rate, loss):
    norm = jnp.sqrt(sum(jnp.vdot(g, g) for g in jax.tree.leaves(grads)))
    by = jnp.where(loss > 30.0, rate / norm, rate)
    return jax.tree.map(lambda p, g: p - by * g, params, grads)


@timed(clock)
def step(params, pack, rate):
    x, y, used = pack
    slots = experts.room(TOKENS, EXPERTS)
    loss, grads = gradients(params, x, y, used, slots)
    return move(params, grads, rate, loss), loss


def main(steps=14):
    params = experts.create(jax.random.key(0), EXPERTS, WIDTH, 16)
    data = Packed(11)
    rates = np.geomspace(0.05, 0.2, steps)
    for number, (rate, pack) in enumerate(zip(rates, data.packs(steps))):
        if number == steps - 4:
            pack = (pack[0] * 2, pack[1] * 2, pack[2])
        params, loss = step(params, pack, rate)
        print(number, f"{float(loss):.3f}")
    print(f"slowest {max(clock):.0f} s")


if __name__ == "__main__":
    main()
