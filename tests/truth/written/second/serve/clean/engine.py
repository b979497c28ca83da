import jax
import jax.numpy as jnp
import numpy as np

D = 8


class Engine:
    def __init__(self, weights, tokenizer):
        self.w = weights
        self.tok = tokenizer
        self._prefill = jax.jit(self.prefill)
        self._decode = jax.jit(self.decode)

    def prefill(self, w, ids):
        h = w["emb"][ids]
        return h @ w["k"], (h @ w["out"])[-1]

    def decode(self, w, cache, last):
        q = w["emb"][last]
        att = jax.nn.softmax(cache @ q)
        row = (q @ w["k"])[None]
        return jnp.roll(cache, -1, 0).at[-1].set(row[0]), jnp.argmax((att @ cache) @ w["out"])

    def generate(self, text, n):
        ids = self.tok(text)
        cache, logits = self._prefill(self.w, ids)
        last = jnp.argmax(logits)
        for _ in range(n):
            cache, last = self._decode(self.w, cache, last)
        return last
