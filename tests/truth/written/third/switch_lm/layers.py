import flax.linen as nn
import jax
import jax.numpy as jnp


class SwitchFFN(nn.Module):
    """Top-1 routed feed-forward (Fedus et al.), dense dispatch tensors."""
    n_experts: int
    d_ff: int

    @nn.compact
    def __call__(self, x, valid, slots: int):
        n, d = x.shape
        gate = jax.nn.softmax(nn.Dense(self.n_experts, name="router")(x))
        choice = gate.argmax(-1)
        hot = jax.nn.one_hot(choice, self.n_experts) * valid[:, None]
        place = (jnp.cumsum(hot, 0) - 1.0) * hot
        keep = hot * (place < slots)
        where_ = jax.nn.one_hot(place.sum(-1).astype(jnp.int32), slots)
        disp = keep[:, :, None] * where_[:, None, :]
        xin = jnp.einsum("nec,nd->ecd", disp, x)
        w1 = self.param("w1", nn.initializers.lecun_normal(), (self.n_experts, d, self.d_ff))
        w2 = self.param("w2", nn.initializers.lecun_normal(), (self.n_experts, self.d_ff, d))
        out = jnp.einsum("ecf,efd->ecd", nn.relu(jnp.einsum("ecd,edf->ecf", xin, w1)), w2)
        y = jnp.einsum("nec,ecd->nd", disp * gate[:, :, None], out)
        dropped = valid.sum() - keep.sum()
        return y, dropped


class LM(nn.Module):
    vocab: int = 64
    d: int = 24
    n_experts: int = 4

    @nn.compact
    def __call__(self, tokens, valid, slots, segment=None):
        B, T = tokens.shape
        h = nn.Embed(self.vocab, self.d)(tokens)
        ok = jnp.tril(jnp.ones((T, T), bool))[None]
        if segment is not None:
            ok = ok & (segment[:, :, None] == segment[:, None, :])
        q, k, v = jnp.split(nn.Dense(3 * self.d)(h), 3, -1)
        a = jnp.where(ok, q @ k.swapaxes(1, 2) / self.d ** 0.5, -1e9)
        h = h + jax.nn.softmax(a) @ v
        y, dropped = SwitchFFN(self.n_experts, 2 * self.d)(h.reshape(B * T, -1), valid.reshape(-1), slots)
        return nn.Dense(self.vocab)(h + y.reshape(h.shape)), dropped
