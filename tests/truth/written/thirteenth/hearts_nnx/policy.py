import jax
import jax.numpy as jnp
from flax import nnx

from table import VOID


class Actor(nnx.Module):
    def __init__(self, dim, heat, rngs):
        self.cards = nnx.Embed(VOID + 1, dim, rngs=rngs)
        self.leads = nnx.Embed(4, dim, rngs=rngs)
        self.mix = nnx.Linear(dim, dim, rngs=rngs)
        self.heat = heat

    def __call__(self, lead, cards):
        h = jnp.tanh(self.mix(self.leads(lead)))
        logits = jnp.einsum("bd,bkd->bk", h, self.cards(cards)) / self.heat
        return jnp.where(cards == VOID, -1e9, logits)


@nnx.jit
def reinforce(actor, opt, trick, baseline):
    def loss(a):
        logp = jax.nn.log_softmax(a(trick.lead, trick.cards))
        taken = jnp.take_along_axis(logp, trick.chosen[:, None], 1)[:, 0]
        return -jnp.mean(taken * (trick.points - baseline))

    val, g = nnx.value_and_grad(loss)(actor)
    opt.update(actor, g)
    return val, 0.9 * baseline + 0.1 * trick.points.mean()


class Cooler:
    def __init__(self, actor, field, rate, every, floor=0.3):
        self.actor, self.field = actor, field
        self.rate, self.every, self.floor = rate, every, floor

    def __call__(self, t):
        if t % self.every == self.every - 1:
            setattr(self.actor, self.field, max(self.floor, getattr(self.actor, self.field) * self.rate))
