import collections
import dataclasses
import logging

import jax
import numpy as np

import model

log = logging.getLogger("engine")


@dataclasses.dataclass
class Request:
    prompt: list
    max_new: int = 3
    temperature: float = 0.7
    n: int = 1
    out: list = dataclasses.field(default_factory=list)


class Engine:
    def __init__(self, seed=0):
        self.w = model.load(seed)
        self.pending = collections.deque()
        self._prefill = jax.jit(model.prefill)
        self._decode = jax.jit(model.decode, donate_argnames=("cache",))
        self._keys = iter(np.asarray(jax.random.split(jax.random.PRNGKey(seed), 512)))

    def submit(self, *reqs):
        self.pending.extend(reqs)

    def _prompt(self, req):
        ids = np.zeros(model.CTX // 2, np.int32)
        ids[:len(req.prompt)] = req.prompt
        return ids, len(req.prompt)

    def _generate(self, req, cache, logits, pos):
        toks = []
        for i in range(req.max_new):
            cache, logits, t = self._decode(self.w, cache, logits, pos + i, float(req.temperature), next(self._keys))
            toks.append(t)
        req.out.append([int(t) for t in toks])

    def serve(self):
        while self.pending:
            req = self.pending.popleft()
            cache, logits = self._prefill(self.w, *self._prompt(req))
            pos = len(req.prompt)
            for s in range(req.n):
                mine = cache if s == req.n - 1 else jax.device_put(np.array(cache))
                self._generate(req, mine, logits, pos)
            log.debug("served %s", req)
            yield req
