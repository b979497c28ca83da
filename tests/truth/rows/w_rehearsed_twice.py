"""Each size is tried twice, each in a line of its own, through the function that a thread then serves with."""
import queue
import threading

import jax
import jax.numpy as jnp
import numpy as np

kernel = jax.jit(lambda picture, weight: jnp.tanh(picture * weight).mean(axis=(1, 2)))
weight = np.float32(0.3)


def respond(pictures):
    full = np.zeros((-(-len(pictures) // 3) * 3, 5, 5), np.float32)
    full[:len(pictures)] = pictures
    return np.asarray(kernel(full, weight))


def serve(jobs):
    while True:
        respond(np.ones((jobs.get(), 5, 5), np.float32))
        jobs.task_done()


blank = np.zeros((9, 5, 5), np.float32)
respond(blank[:3]), respond(blank[:3])
respond(blank[:6]), respond(blank[:6])
respond(blank), respond(blank)
jobs = queue.Queue()
threading.Thread(target=serve, args=(jobs,), daemon=True).start()
for turn in range(48):
    jobs.put(1 + turn % 9)
jobs.join()
