import dataclasses
import functools

import jax
import jax.numpy as jnp
import numpy as np

from lm import DIM, HEADS, VOCAB, attend, weights


@dataclasses.dataclass(frozen=True)
class Sampling:
    temperature: float = 1.0
    floor: float = 0.0


def choose(key, logits, sampling):
    logits = logits / sampling.temperature
    p = jax.nn.softmax(logits)
    logits = jnp.where(p < sampling.floor, -1e9, logits)
    return jax.random.categorical(key, logits)


@jax.jit
def prefill(w, tokens):
    x = w["emb"][tokens]
    none = jnp.zeros((tokens.shape[0], 0, HEADS, DIM // HEADS))
    x, k, v = attend(w, x, none, none)
    return x[:, -1] @ w["head"], k, v


@functools.partial(jax.jit, static_argnames=("sampling",))
def decode(w, key, token, k, v, sampling):
    x = w["emb"][token][:, None]
    x, k, v = attend(w, x, k, v)
    logits = x[:, 0] @ w["head"]
    return choose(key, logits, sampling), k, v


class Engine:
    def __init__(self, seed=0, prompt_len=8, new_tokens=5):
        self.w = weights(seed)
        self.key = jax.random.key(seed + 1)
        self.prompt_len, self.new_tokens = prompt_len, new_tokens

    def _pad(self, prompts):
        out = np.zeros((len(prompts), self.prompt_len), np.int32)
        for i, p in enumerate(prompts):
            out[i, -len(p):] = p[-self.prompt_len:]
        return out

    def chat(self, prompts, preset):
        sampling = Sampling(**preset)
        logits, k, v = prefill(self.w, self._pad(prompts))
        token = np.asarray(logits).argmax(-1).astype(np.int32)
        replies = [[int(t)] for t in token]
        for _ in range(self.new_tokens):
            self.key, sub = jax.random.split(self.key)
            token, k, v = decode(self.w, sub, token, k, v, sampling)
            for r, t in zip(replies, np.asarray(token)):
                r.append(int(t))
        return replies
