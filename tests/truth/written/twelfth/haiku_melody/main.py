from typing import Any, NamedTuple

import haiku as hk
import jax
import jax.numpy as jnp
import numpy as np
import optax

import curriculum
from curriculum import Corpus


class Carry(NamedTuple):
    params: Any
    opt: Any
    running: Any


class Melody(hk.Module):
    def __init__(self, vocab, width, name=None):
        super().__init__(name=name)
        self.vocab, self.width = vocab, width

    def __call__(self, tokens):
        h = hk.Embed(self.vocab, self.width)(tokens)
        h, _ = hk.dynamic_unroll(hk.GRU(self.width), h, hk.GRU(self.width).initial_state(h.shape[0]), time_major=False)
        return hk.Linear(self.vocab)(h)


def build(vocab):
    return hk.without_apply_rng(hk.transform(lambda t: Melody(vocab, 16)(t)))


def make_step(net, tx, beta=0.95):
    def loss_fn(params, seq):
        logits = net.apply(params, seq[:, :-1])
        return optax.softmax_cross_entropy_with_integer_labels(logits, seq[:, 1:]).mean()

    @jax.jit
    def step(carry, seq):
        loss, g = jax.value_and_grad(loss_fn)(carry.params, seq)
        upd, opt = tx.update(g, carry.opt, carry.params)
        running = beta * carry.running + (1.0 - beta) * loss
        return Carry(optax.apply_updates(carry.params, upd), opt, running), loss

    return step


def make_sampler(net):
    @jax.jit
    def continue_from(params, seed):
        return net.apply(params, seed)[:, -1].argmax(-1)

    return continue_from


def main(iters=12):
    corpus = Corpus()
    net = build(corpus.vocab)
    params = jax.jit(net.init)(jax.random.PRNGKey(7), np.zeros((1, 4), np.int32))
    tx = optax.chain(optax.clip(1.0), optax.rmsprop(optax.cosine_decay_schedule(3e-3, iters)))
    opt_state = tx.init(params)
    step, sampler = make_step(net, tx), make_sampler(net)
    running = 0.0
    carry = Carry(params, opt_state, running)
    for it in range(iters):
        window = curriculum.length_at(it)
        batch = corpus.crop(window)
        carry, loss = step(carry, batch)
        if it % 3 == 2:
            nxt = sampler(carry.params, corpus.notes[None, it:it + 6])
            print(it, f"loss {float(loss):.4f} running {float(carry.running):.4f} next {int(nxt[0])}")


if __name__ == "__main__":
    main()
