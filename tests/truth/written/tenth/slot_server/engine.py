import jax
import numpy as np

import model

MAX_PREFILL = 16
PAGE = 16


class Engine:
    def __init__(self, slots=3, seed=0):
        self.w = model.init_weights(seed)
        self.slots = [None] * slots
        self.lengths = np.zeros(slots, np.int32)
        self.last = np.zeros(slots, np.int32)
        shape = (model.LAYERS, slots, PAGE, model.DIM)
        self.cache = {"k": np.zeros(shape, np.float32), "v": np.zeros(shape, np.float32)}
        self.key = jax.random.PRNGKey(seed)

    def free_slot(self):
        return next((i for i, r in enumerate(self.slots) if r is None), None)

    def admit(self, req, slot):
        padded = np.zeros(MAX_PREFILL, np.int32)
        padded[: len(req.prompt)] = req.prompt
        prefix, logits = model.prefill(self.w, padded, np.int32(len(req.prompt)))
        self.cache = model.insert_prefix(self.cache, prefix, np.int32(slot))
        self.slots[slot] = req
        self.lengths[slot] = len(req.prompt)
        self.last[slot] = int(np.argmax(logits))

    def reserve(self):
        room = self.cache["k"].shape[2]
        if self.lengths.max() + 1 >= room:
            grow = [(0, 0), (0, 0), (0, PAGE), (0, 0)]
            self.cache = {n: np.pad(np.asarray(c), grow) for n, c in self.cache.items()}

    def step(self):
        self.reserve()
        live = [r for r in self.slots if r is not None]
        self.cache, logits = model.decode_step(self.w, self.cache, self.last.copy(), self.lengths.copy())
        self.key, sub = jax.random.split(self.key)
        temps = np.array([1 if r is None else r.temperature for r in self.slots])
        k = max(r.top_k for r in live)
        self.last = np.array(model.sample_tokens(sub, logits, temps, k=k))
        done = []
        for i, r in enumerate(self.slots):
            if r is None:
                continue
            r.output.append(int(self.last[i]))
            self.lengths[i] += 1
            if r.finished:
                done.append(r)
                self.slots[i] = None
                self.lengths[i] = 0
        return done
