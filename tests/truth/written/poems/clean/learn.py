"""A character model with a gated recurrent unit (haiku)."""
import argparse
from typing import NamedTuple

import haiku as hk
import jax
import jax.numpy as jnp
import optax

import text


class Bundle(NamedTuple):
    params: hk.Params
    opt: optax.OptState


def network(letters, width):
    def forward(codes):
        x = hk.Embed(letters, width)(codes)
        core = hk.GRU(width)
        x, _ = hk.dynamic_unroll(core, x, core.initial_state(codes.shape[0]), time_major=False)
        return hk.Linear(letters)(x)
    return hk.without_apply_rng(hk.transform(forward))


class Model:
    def __init__(self, letters, width, rate):
        self.net = network(letters, width)
        self.opt = optax.adam(rate)
        self.update = jax.jit(self._update)
        self._extend = jax.jit(self._next)

    def start(self, key, example):
        params = self.net.init(key, example[:, :-1])
        return Bundle(params, self.opt.init(params))

    def _surprise(self, params, window, span):
        logits = self.net.apply(params, window[:, :-1])
        each = optax.softmax_cross_entropy_with_integer_labels(logits, window[:, 1:])
        used = jnp.arange(each.shape[1]) < span
        return jnp.sum(each * used) / (each.shape[0] * span)

    def _update(self, bundle, window, span):
        loss, grads = jax.value_and_grad(self._surprise)(bundle.params, window, span)
        updates, opt = self.opt.update(grads, bundle.opt)
        return Bundle(optax.apply_updates(bundle.params, updates), opt), loss

    def continue_(self, params, prompt, count):
        for _ in range(count):
            prompt = self._extend(params, prompt)
        return prompt

    def _next(self, params, codes):
        logits = self.net.apply(params, codes)
        best = jnp.argmax(logits[:, -1:], axis=-1).astype(codes.dtype)
        return jnp.concatenate([codes[:, 1:], best], axis=1)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=16)
    parser.add_argument("--longest", type=int, default=32)
    args = parser.parse_args()
    alphabet = text.Alphabet(text.LINES)
    codes = alphabet.encode(text.LINES)
    windows = text.Windows(codes, args.longest, rows=4)
    model = Model(len(alphabet), 16, 5e-3)
    bundle = model.start(jax.random.key(0), windows.sample(args.longest))
    for step, span in enumerate(text.easy_first(args.longest, 8, args.steps)):
        bundle, loss = model.update(bundle, windows.sample(args.longest), span)
        if step % 4 == 3:
            written = model.continue_(bundle.params, jnp.asarray(codes[None, :12]), 2 + step // 8)
            letters = "".join(alphabet.letters[c] for c in written[0].tolist())
            print(step, f"{float(loss):.3f}", repr(letters))


if __name__ == "__main__":
    main()
