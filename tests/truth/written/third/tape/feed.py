import threading
from queue import Queue

import numpy as np

DONE = object()


class Feed(threading.Thread):
	"""Pushes (minute, last price) ticks into a queue the way the gateway does."""

	def __init__(self, n, seed=21):
		super().__init__(daemon=True)
		self.q = Queue(maxsize=64)
		self.n = n
		g = np.random.default_rng(seed)
		vol = 0.004 * (1 + 0.5 * np.sin(np.arange(n) / 40))
		self.px = 100 * np.exp(np.cumsum(g.normal(size=n) * vol)).astype(np.float32)

	def run(self):
		for m in range(self.n):
			self.q.put((m, self.px[m]))
		self.q.put(DONE)

	def __iter__(self):
		while (t := self.q.get()) is not DONE:
			yield t
