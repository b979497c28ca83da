import equinox as eqx
import jax
import jax.numpy as jnp


class Weights(eqx.Module):
    balance: float
    router_z: float


class SparseFFN(eqx.Module):
    gate: jax.Array
    up: jax.Array
    down: jax.Array
    experts: int = eqx.field(static=True)

    def __init__(self, dim, hidden, experts, key):
        a, b, c = jax.random.split(key, 3)
        self.gate = jax.random.normal(a, (dim, experts)) * 0.1
        self.up = jax.random.normal(b, (experts, dim, hidden)) * dim ** -0.5
        self.down = jax.random.normal(c, (experts, hidden, dim)) * hidden ** -0.5
        self.experts = experts

    def __call__(self, x, live, slots):
        logits = x @ self.gate
        prob = jax.nn.softmax(logits) * live[:, None]
        pick = jnp.argmax(prob, -1)
        onehot = jax.nn.one_hot(pick, self.experts) * live[:, None]
        place = jnp.cumsum(onehot, 0) * onehot - 1.0
        send = jax.nn.one_hot(place.astype(jnp.int32), slots) * onehot[..., None]
        inbox = jnp.einsum("tec,td->ecd", send, x)
        out = jnp.einsum("ech,ehd->ecd", jax.nn.silu(jnp.einsum("ecd,edh->ech", inbox, self.up)), self.down)
        y = jnp.einsum("tec,ecd->td", send * prob[..., None], out)
        load = onehot.sum(0) / live.sum()
        stats = {"balance": self.experts * jnp.sum(load * prob.mean(0)),
                 "router_z": jnp.mean(jax.nn.logsumexp(logits, -1) ** 2 * live)}
        return y, stats


class Model(eqx.Module):
    embed: eqx.nn.Embedding
    ffn: SparseFFN
    head: eqx.nn.Linear

    def __init__(self, vocab, dim, experts, key):
        a, b, c = jax.random.split(key, 3)
        self.embed = eqx.nn.Embedding(vocab, dim, key=a)
        self.ffn = SparseFFN(dim, 2 * dim, experts, b)
        self.head = eqx.nn.Linear(dim, vocab, key=c)

    def __call__(self, tokens, live, slots):
        x = jax.vmap(self.embed)(tokens)
        y, stats = self.ffn(x, live, slots)
        return jax.vmap(self.head)(x + y), stats
