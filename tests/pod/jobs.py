"""jobs.py OUT: runs jobs of several ranks, one after the other, as they are written to standard input: a line
`NAME SCRIPT WAY RANKS [VARIABLE=value…]`. Imports JAX once, and forks a process for each rank (with POD_FRESH, an interpreter
and a seed of hashes of its own). A job ends by itself, or when
the line `end NAME` comes. The output of rank r is OUT/NAME.r; `started NAME pid…` and `ended NAME` are printed.

Run it under `stet run --cpu`: the processes load the layer when they make their client."""
import os
import runpy
import select
import signal
import socket
import sys

import jax  # the ranks inherit it
import jax.numpy  # noqa: F401
import numpy  # noqa: F401

HERE = os.path.dirname(os.path.abspath(__file__))
OUT = sys.argv[1]


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def rank(name, script, way, number, world, port, variables):
    pid = os.fork()
    if pid:
        return pid
    out = os.open(f"{OUT}/{name}.{number}", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(out, 1)
    os.dup2(out, 2)
    os.environ.update(POD_RANK=str(number), POD_WORLD=str(world), POD_PORT=str(port), **variables)
    if "POD_FRESH" in os.environ:
        os.environ["PYTHONHASHSEED"] = str(number + 1)
        os.execv(sys.executable, [sys.executable, f"{HERE}/{script}", way])
    sys.argv = [script, way]
    code = 1
    try:
        runpy.run_path(f"{HERE}/{script}", run_name="__main__")
        code = 0
    except BaseException as e:  # noqa: B902
        print(f"{type(e).__name__}: {e}")
    sys.stdout.flush()
    try:
        jax.distributed.shutdown()
    finally:
        os._exit(code) if "POD_ABRUPT" in os.environ else sys.exit(code)


def end(pids):
    for pid in pids:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass


def run(name, script, way, world, variables):
    port = free_port()
    left = {rank(name, script, way, r, world, port, variables): r for r in range(world)}
    print("started", name, *left, flush=True)
    codes = {}
    while left:
        if select.select([sys.stdin], [], [], 0.05)[0]:
            sys.stdin.readline()  # end NAME
            end(left)
        pid, status = os.waitpid(-1, os.WNOHANG)
        if pid in left:
            codes[left.pop(pid)] = os.waitstatus_to_exitcode(status)
    print("ended", name, *(codes[r] for r in range(world)), flush=True)


def main():
    print("ready", flush=True)
    for line in sys.stdin:
        words = line.split()
        if words[0] != "end":
            run(*words[:3], int(words[3]), dict(v.split("=", 1) for v in words[4:]))


main()
