from typing import Optional

import equinox as eqx
import jax
import jax.numpy as jnp


class Phaser(eqx.Module):
    logit: jax.Array
    panel: Optional[jax.Array] = None
    sharp: float = eqx.field(static=True, default=2.0)

    def prior(self):
        if self.panel is not None:
            return self.panel
        return jnp.zeros_like(self.logit)


def attach_panel(phaser, panel):
    return eqx.tree_at(lambda p: p.panel, phaser, jnp.asarray(panel), is_leaf=lambda leaf: leaf is None)


@eqx.filter_jit
def em_round(phaser, pile):
    h = jax.nn.sigmoid(phaser.logit)
    agree = pile.allele * h + (1 - pile.allele) * (1 - h)
    weight = pile.seen * jnp.log(pile.qual / (1 - pile.qual))[:, None]
    edge = (weight * (2 * agree - 1)).sum(1)
    strand = jax.nn.sigmoid(phaser.sharp * edge)
    vote = (weight * (2 * pile.allele - 1) * (2 * strand - 1)[:, None]).sum(0)
    logit = 0.5 * phaser.logit + 0.5 * jnp.clip(vote + phaser.prior(), -8, 8)
    return eqx.tree_at(lambda p: p.logit, phaser, logit), jnp.mean(jnp.abs(2 * strand - 1))


@jax.jit
def switch_errors(logit, truth):
    call = (logit > 0).astype(jnp.int32)
    rel = call ^ truth
    return jnp.sum(rel[1:] != rel[:-1])
