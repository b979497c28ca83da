import queue
import threading

import numpy as np

STOP = object()


def edges_of(pos, cutoff):
    d = np.linalg.norm(pos[:, None] - pos[None], axis=-1)
    send, recv = np.nonzero((d < cutoff) & (d > 0))
    return send, recv


class Producer(threading.Thread):
    def __init__(self, out, count):
        super().__init__(daemon=True)
        self.out = out
        self.count = count
        self.rng = np.random.default_rng(2)

    def run(self):
        for _ in range(self.count):
            pos = self.rng.uniform(size=(12, 3)).astype(np.float32)
            send, recv = edges_of(pos, 0.45)
            self.out.put((pos, send.astype(np.int32), recv.astype(np.int32), np.float32(len(send))))
        self.out.put(STOP)


def stream(count, depth=2):
    q = queue.Queue(depth)
    Producer(q, count).start()
    while (item := q.get()) is not STOP:
        yield item
