import numpy as np
from engine import Engine, D


def tokenizer(text):
    return np.resize(np.frombuffer(text.encode(), np.uint8).astype(np.int32) % 32, 16)


REQUESTS = ["hello there", "what is a fish", "sing", "the quick brown fox jumps"]

rng = np.random.default_rng(0)
weights = {k: rng.normal(size=s).astype(np.float32) for k, s in {"emb": (32, D), "k": (D, D), "out": (D, 32)}.items()}
engine = Engine(weights, tokenizer)

for request in REQUESTS:
    answer = engine.generate(request, 6)
