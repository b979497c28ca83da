import itertools

import equinox as eqx
import jax
import jax.numpy as jnp
import optax

from feed import Packer
from layers import Model, Weights

SPEC = dict(vocab=64, dim=24, experts=4, budget=96, slack=1.25, steps=12, lr=1e-2)


class Anneal:
    def __init__(self, start, end, span, every):
        self.start, self.end, self.span, self.every = start, end, span, every

    def __call__(self, step):
        t = min(1.0, (step // self.every * self.every) / self.span)
        return self.start + (self.end - self.start) * t


def build(spec):
    model = Model(spec["vocab"], spec["dim"], spec["experts"], jax.random.key(12))
    tx = optax.adamw(spec["lr"])
    opt_state = tx.init(eqx.filter(model, eqx.is_array))

    def loss_fn(m, tokens, live, slots, coef):
        logits, stats = m(tokens, live, slots)
        nll = optax.softmax_cross_entropy_with_integer_labels(logits[:-1], tokens[1:])
        mask = live[:-1] * live[1:]
        ce = jnp.sum(nll * mask) / jnp.sum(mask)
        return ce + coef.balance * stats["balance"] + coef.router_z * stats["router_z"], (ce, stats)

    @eqx.filter_jit
    def train_step(m, s, tokens, live, slots, coef):
        (_, aux), g = eqx.filter_value_and_grad(loss_fn, has_aux=True)(m, tokens, live, slots, coef)
        u, s = tx.update(g, s, eqx.filter(m, eqx.is_array))
        return eqx.apply_updates(m, u), s, aux

    return model, opt_state, train_step


def main(spec=SPEC):
    model, opt_state, train_step = build(spec)
    packer = Packer(spec["budget"], spec["experts"], spec["slack"], spec["vocab"], seed=6)
    balance = Anneal(0.10, 0.01, span=10, every=5)
    for step, pack in enumerate(itertools.islice(packer, spec["steps"])):
        coef = Weights(balance=balance(step), router_z=1e-3)
        model, opt_state, (ce, stats) = train_step(model, opt_state, pack.tokens, pack.live, pack.slots, coef)
        if step % 5 == 4:
            print(f"{step:3d} ce {ce:.3f} balance {stats['balance']:.3f} fill {pack.fill:.2f}")


main()
