"""Switch-style mixture of experts with bounded expert buffers (flax linen)."""
import math

import flax.linen as nn
import jax
import jax.numpy as jnp


def buffer_size(tokens: int, experts: int, slack: float, multiple: int = 4) -> int:
    return multiple * math.ceil(slack * tokens / experts / multiple)


class Switch(nn.Module):
    experts: int
    hidden: int

    @nn.compact
    def __call__(self, x, alive, capacity: int):
        n, d = x.shape
        gate = jax.nn.softmax(nn.Dense(self.experts, name="router")(x))
        choice = jnp.argmax(gate, -1)
        onehot = jax.nn.one_hot(choice, self.experts) * alive[:, None]
        position = (jnp.cumsum(onehot, 0) - 1.0) * onehot
        keep = onehot * (position < capacity)
        slot = jax.nn.one_hot(position.sum(-1).astype(jnp.int32), capacity)
        dispatch = keep[:, :, None] * slot[:, None, :]
        w1 = self.param("w1", nn.initializers.lecun_normal(), (self.experts, d, self.hidden))
        w2 = self.param("w2", nn.initializers.lecun_normal(), (self.experts, self.hidden, d))
        buf = jnp.einsum("nec,nd->ecd", dispatch, x)
        buf = jnp.einsum("ech,ehd->ecd", nn.gelu(jnp.einsum("ecd,edh->ech", buf, w1)), w2)
        combined = jnp.einsum("nec,ecd->nd", dispatch * gate[:, :, None], buf)
        dropped = 1.0 - keep.sum() / jnp.maximum(alive.sum(), 1)
        balance = self.experts * jnp.sum(onehot.mean(0) * gate.mean(0))
        return x + combined, {"dropped": dropped, "balance": balance}


class Nowcaster(nn.Module):
    width: int = 16
    experts: int = 4

    @nn.compact
    def __call__(self, x, alive, capacity):
        h = nn.Dense(self.width)(x)
        aux = []
        for _ in range(1):
            h, a = Switch(self.experts, 2 * self.width)(nn.LayerNorm()(h), alive, capacity)
            aux.append(a)
        return nn.Dense(1)(h)[:, 0], jax.tree.map(lambda *v: sum(v), *aux)
