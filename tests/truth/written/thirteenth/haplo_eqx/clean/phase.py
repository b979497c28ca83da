import equinox as eqx
import jax
import jax.numpy as jnp


class Phaser(eqx.Module):
    logit: jax.Array
    panel: jax.Array
    sharp: float = eqx.field(static=True, default=2.0)


def attach_panel(phaser, panel):
    return eqx.tree_at(lambda p: p.panel, phaser, jnp.asarray(panel))


@eqx.filter_jit
def em_round(phaser, pile):
    h = jax.nn.sigmoid(phaser.logit)
    agree = pile.allele * h + (1 - pile.allele) * (1 - h)
    weight = pile.seen * jnp.log(pile.qual / (1 - pile.qual))[:, None]
    edge = (weight * (2 * agree - 1)).sum(1)
    strand = jax.nn.sigmoid(phaser.sharp * edge)
    vote = (weight * (2 * pile.allele - 1) * (2 * strand - 1)[:, None]).sum(0)
    logit = 0.5 * phaser.logit + 0.5 * jnp.clip(vote + phaser.panel, -8, 8)
    return eqx.tree_at(lambda p: p.logit, phaser, logit), jnp.sum(jnp.abs(2 * strand - 1) * pile.seen.max(1)) / pile.seen.max(1).sum()


@jax.jit
def switch_errors(logit, truth):
    call = (logit > 0).astype(jnp.int32)
    rel = call ^ truth
    return jnp.sum(rel[1:] != rel[:-1])
