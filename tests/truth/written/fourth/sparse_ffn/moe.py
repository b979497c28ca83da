"""A switch-style feed-forward block in Flax linen."""
from __future__ import annotations

import dataclasses
import math

import flax.linen as nn
import jax
import jax.numpy as jnp


@dataclasses.dataclass(frozen=True)
class RouterConfig:
    experts: int = 4
    slack: float = 1.25

    def capacity(self, tokens: int) -> int:
        return max(4, math.ceil(self.slack * tokens / self.experts))


class SwitchFFN(nn.Module):
    cfg: RouterConfig
    width: int = 32

    @nn.compact
    def __call__(self, x, alive, slots: int):
        t, d = x.shape
        e = self.cfg.experts
        gate = jax.nn.softmax(nn.Dense(e, name="router")(x))
        pick = jnp.argmax(gate, -1)
        hot = jax.nn.one_hot(pick, e) * alive[:, None]
        rank = (jnp.cumsum(hot, 0) - 1) * hot
        fits = (rank < slots) * hot
        dispatch = fits[..., None] * jax.nn.one_hot(rank.astype(jnp.int32), slots)
        xin = jnp.einsum("td,tec->ecd", x, dispatch)
        w1 = self.param("w1", nn.initializers.lecun_normal(), (e, d, self.width))
        w2 = self.param("w2", nn.initializers.lecun_normal(), (e, self.width, d))
        y = jnp.einsum("ecw,ewd->ecd", nn.gelu(jnp.einsum("ecd,edw->ecw", xin, w1)), w2)
        top = jnp.max(gate, -1, keepdims=True)
        return jnp.einsum("ecd,tec->td", y, dispatch) * top, hot.mean(0) @ gate.mean(0)


class TinyLM(nn.Module):
    vocab: int
    cfg: RouterConfig
    d: int = 16

    @nn.compact
    def __call__(self, ids, alive, slots: int):
        emb = nn.Embed(self.vocab, self.d)
        x = emb(ids)
        h, balance = SwitchFFN(self.cfg)(x, alive, slots)
        return emb.attend(x + h), balance
