import haiku as hk
import jax
import jax.numpy as jnp

EXPERTS = 4


def slots(n_tokens, factor=1.25):
    return max(4, int(factor * n_tokens / EXPERTS))


class SwitchFFN(hk.Module):
    def __init__(self, width, hidden, capacity, name=None):
        super().__init__(name=name)
        self.width, self.hidden, self.capacity = width, hidden, capacity

    def __call__(self, x, real):
        probs = jax.nn.softmax(hk.Linear(EXPERTS, name="router")(x))
        gate, expert = probs.max(-1), probs.argmax(-1)
        onehot = jax.nn.one_hot(expert, EXPERTS) * real[:, None]
        rank = (jnp.cumsum(onehot, 0) - 1) * onehot
        place = jax.nn.one_hot(rank.sum(-1).astype(jnp.int32), self.capacity)
        dispatch = onehot[:, :, None] * place[:, None, :]
        inp = jnp.einsum("tec,td->ecd", dispatch, x)
        w1 = hk.get_parameter("w1", (EXPERTS, self.width, self.hidden), init=hk.initializers.RandomNormal(0.1))
        w2 = hk.get_parameter("w2", (EXPERTS, self.hidden, self.width), init=hk.initializers.RandomNormal(0.1))
        out = jnp.einsum("ech,ehd->ecd", jax.nn.gelu(jnp.einsum("ecd,edh->ech", inp, w1)), w2)
        y = jnp.einsum("tec,ecd->td", dispatch, out) * gate[:, None]
        balance = EXPERTS * jnp.sum(onehot.mean(0) * probs.mean(0))
        return y, balance, onehot.sum(0)
