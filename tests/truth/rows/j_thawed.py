"""Row J: more parts of a model are trained from the fourth turn on, so more arrays are passed, by place."""
import equinox as eqx
import jax
import jax.numpy as jnp


class Chain(eqx.Module):
    first: eqx.nn.Linear
    second: eqx.nn.Linear
    last: eqx.nn.Linear

    def __call__(self, value):
        return self.last(jnp.tanh(self.second(jnp.tanh(self.first(value)))))


@eqx.filter_jit
def nudge(moving, slopes, rate):
    return jax.tree.map(lambda part, slope: part - rate * slope, moving, slopes)


def part_of(chain, turn):
    wanted = jax.tree.map(lambda _: False, chain)
    wanted = eqx.tree_at(lambda c: c.last, wanted, jax.tree.map(lambda _: True, chain.last))
    if turn >= 3:
        wanted = eqx.tree_at(lambda c: c.first, wanted, jax.tree.map(lambda _: True, chain.first))
    return eqx.partition(chain, wanted)


one, two, three = jax.random.split(jax.random.key(1), 3)
chain = Chain(eqx.nn.Linear(4, 6, key=one), eqx.nn.Linear(6, 6, key=two), eqx.nn.Linear(6, 3, key=three))
for turn in range(6):
    moving, still = part_of(chain, turn)
    moving = nudge(moving, jax.tree.map(jnp.ones_like, moving), jnp.float32(0.1))
    chain = eqx.combine(moving, still)
print(float(chain.last.bias.sum()))
