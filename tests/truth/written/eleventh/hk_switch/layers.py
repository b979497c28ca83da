import haiku as hk
import jax
import jax.numpy as jnp


class Switch(hk.Module):
    def __init__(self, experts, hidden, name=None):
        super().__init__(name=name)
        self.experts, self.hidden = experts, hidden

    def __call__(self, x, valid, slots):
        n, d = x.shape
        gate = hk.Linear(self.experts, name="gate")(x)
        prob = jax.nn.softmax(gate) * valid[:, None]
        pick = jax.nn.one_hot(prob.argmax(-1), self.experts) * valid[:, None]
        place = (jnp.cumsum(pick, 0) - 1.0) * pick
        fits = pick * (place < slots)
        route = fits[..., None] * jax.nn.one_hot(place.sum(-1).astype(jnp.int32), slots)[:, None]
        w1 = hk.get_parameter("w1", (self.experts, d, self.hidden), init=hk.initializers.RandomNormal(0.1))
        w2 = hk.get_parameter("w2", (self.experts, self.hidden, d), init=hk.initializers.RandomNormal(0.1))
        inp = jnp.einsum("nec,nd->ecd", route, x)
        out = jnp.einsum("ech,ehd->ecd", jax.nn.relu(jnp.einsum("ecd,edh->ech", inp, w1)), w2)
        y = jnp.einsum("nec,ecd->nd", route * prob[..., None], out)
        lost = (pick - fits).sum()
        return y, gate, lost


def language_model(tokens, valid, slots, vocab, experts):
    d = 24
    x = hk.Embed(vocab, d)(tokens)
    flat, ok = x.reshape(-1, d), valid.reshape(-1)
    y, gate, lost = Switch(experts, 32)(flat, ok, slots)
    logits = hk.Linear(vocab)(flat + y).reshape(*tokens.shape, vocab)
    return logits, gate, lost
