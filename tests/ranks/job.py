"""job.py MODE: five steps of a program, then MODE, for ever. The lines that matter are marked with `here: MODE`."""
import os
import queue
import signal
import sys
import threading
import time

import jax
import jax.numpy as jnp


def spin():
    n = 0
    while True: n += 1  # here: spin


def deadlock():
    lock = threading.Lock()
    with lock:
        lock.acquire()  # here: deadlock


def loader():
    queue.Queue().get()  # here: loader


def endless():
    """What a collective is whose other ranks never come: a program that does not end."""
    step = jax.jit(lambda x: jax.lax.while_loop(lambda c: c >= 0, lambda c: c * 0, x))
    float(step(jnp.float32(0)))  # here: endless


def sleep():
    time.sleep(100000)  # here: sleep


def stop():
    os.kill(os.getpid(), signal.SIGSTOP)  # here: stop


def die():
    time.sleep(0.5)
    os.kill(os.getpid(), signal.SIGKILL)


def main():
    step = jax.jit(lambda x: x * 2 + 1)
    x = jnp.ones(4)
    for _ in range(int(os.environ.get("STEPS", "5"))):
        x = step(x)
    jax.block_until_ready(x)
    globals()[sys.argv[1]]()


main()
