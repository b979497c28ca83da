# %% [markdown]
# Digit-string reversal with a GRU encoder-decoder (flax nnx), scheduled sampling, mixed loss scale.

# %%
import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import nnx

VOCAB, L, D = 12, 4, 24
BOS = 10


# %%
class Seq2Seq(nnx.Module):
    def __init__(self, rngs: nnx.Rngs):
        self.embed = nnx.Embed(VOCAB, D, rngs=rngs)
        self.enc = nnx.GRUCell(D, D, rngs=rngs)
        self.dec = nnx.GRUCell(D, D, rngs=rngs)
        self.head = nnx.Linear(D, VOCAB, rngs=rngs)
        self.sampling = Sampling()

    def encode(self, src):
        h = jnp.zeros((src.shape[0], D))
        for i in range(L):
            h, _ = self.enc(h, self.embed(src[:, i]))
        return h

    def __call__(self, src, tgt, key):
        h = self.encode(src)
        tok = jnp.full((src.shape[0],), BOS)
        outs = []
        for i in range(L):
            h, y = self.dec(h, self.embed(tok))
            logits = self.head(y)
            outs.append(logits)
            key, sub = jax.random.split(key)
            tok = self.sampling.choose(sub, tgt[:, i], logits.argmax(-1))
        return jnp.stack(outs, 1)


class Sampling(nnx.Module):
    def __init__(self):
        self.forced = nnx.Variable(jnp.float32(1.0))

    def anneal(self, epoch):
        if epoch >= 2:
            self.forced[...] = jnp.float32(max(0.25, 1.0 - 0.25 * (epoch - 1)))

    def choose(self, key, truth, guess):
        use = jax.random.bernoulli(key, self.forced[...], truth.shape)
        return jnp.where(use, truth, guess)


class LossScale(nnx.Module):
    def __init__(self, value=2.0 ** 8, every=20):
        self.value = nnx.Variable(jnp.float32(value))
        self.every = every
        self.clean_run = 0

    def observe(self, finite):
        self.clean_run = self.clean_run + 1 if finite else 0
        if self.clean_run >= self.every:
            self.value[...] = self.value[...] * 2
            self.clean_run = 0


# %%
@nnx.jit
def forward_backward(model, scale, src, tgt, key):
    def loss_fn(m):
        logits = m(src, tgt, key)
        ce = optax.softmax_cross_entropy_with_integer_labels(logits, tgt).mean()
        return ce * scale, ce
    (_, ce), grads = nnx.value_and_grad(loss_fn, has_aux=True)(model)
    return ce, grads


@nnx.jit
def apply_grads(model, optimizer, scale, grads):
    grads = jax.tree.map(lambda g: g / scale, grads)
    norm = optax.global_norm(grads)
    optimizer.update(model, grads)
    return norm


# %%
def strings(rng, n):
    src = rng.integers(0, 10, (n, L)).astype(np.int32)
    return src, src[:, ::-1].copy()


model = Seq2Seq(nnx.Rngs(0))
optimizer = nnx.Optimizer(model, optax.adam(5e-3), wrt=nnx.Param)
scaler = LossScale()
rng = np.random.default_rng(0)
key = jax.random.key(11)

# %%
for epoch in range(4):
    model.sampling.anneal(epoch)
    total = 0.0
    for _ in range(3):
        src, tgt = strings(rng, 32)
        key, sub = jax.random.split(key)
        ce, grads = forward_backward(model, scaler.value[...], src, tgt, sub)
        norm = apply_grads(model, optimizer, scaler.value[...], grads)
        scaler.observe(bool(jnp.isfinite(norm)))
        total += float(ce)
    print(f"epoch {epoch}: ce {total / 3:.4f}  |g| {float(norm):.3f}")
