"""Makes `python main.py` a parent that has a framework imported and forks one process for each case.

Python runs this file at its start, before it opens main.py. The parent imports the framework, opens no device, and
waits here. A forked child takes folder, environment and files from the command that asked for it (ask.py) and
returns from this file: Python then goes on to open the case's main.py, as it does without a fork, with no frame of
ours on the stack. Stet does nothing in the parent: the layer waits for a framework to look for a device, and the
functions that make the CPU backend JAX's platform `cpu`, which load it, are called in the child.

Python knows the script's path since its start. The parent is started with a path of so many slashes that any
other fits in its place; the child writes the case's path over it, wherever Python's own copies of its arguments are.

  TRUTH_SOCKET   where ask.py connects
  TRUTH_LANE     jax or torch
  TRUTH_LIMIT_S  a child ends after so many seconds
"""
import array
import contextlib
import gc
import importlib
import json
import os
import selectors
import signal
import socket
import sys

MODULES = {"jax": ("jax", "jax.numpy", "optax", "flax.linen", "flax.nnx", "flax.training.train_state", "equinox", "haiku", "numpyro", "numpyro.infer",
                   "numpyro.infer.autoguide"),
           "torch": ("torch", "torch._dynamo", "torch._functorch.aot_autograd")}
# What a case's environment may have otherwise than the parent's: read when a device is opened or later.
OWN = ("STET_", "XDG_", "TRUTH_", "TORCH_TRACE", "TORCHINDUCTOR_CACHE_DIR", "HOME", "PWD", "OLDPWD", "SHLVL", "PYTHONPATH", "_")
ANSWER_BYTES = 16
STARTED_WITH = dict(os.environ)  # importing a framework may set variables


def receive(connection):
    """Environment and folder of the case; standard output and error become the asking process's."""
    parts, files = [], array.array("i")
    while not parts or not parts[-1].endswith(b"\n"):
        data, ancillary, _, _ = connection.recvmsg(1 << 16, socket.CMSG_SPACE(2 * files.itemsize))
        if not data:
            os._exit(1)
        parts.append(data)
        for _, _, content in ancillary:
            files.frombytes(content)
    for target, source in zip((1, 2), files):
        os.dup2(source, target)
        os.close(source)
    return json.loads(b"".join(parts))


def run_instead(script):
    """Replaces the path of the script to run in Python's wide-character copies of its command line."""
    given, wanted = (path.encode("utf-32-le") for path in (sys.orig_argv[-1] + "\0", script + "\0"))
    with open("/proc/self/maps") as maps:
        heap = next(line for line in maps if line.endswith("[heap]\n"))
    start, end = (int(part, 16) for part in heap.split()[0].split("-"))
    memory = os.open("/proc/self/mem", os.O_RDWR)
    content = os.pread(memory, end - start, start)
    at = content.find(given)
    if at < 0 or len(wanted) > len(given):
        print("truth: the path of the script cannot be replaced", file=sys.stderr)
        os._exit(1)
    while at >= 0:
        os.pwrite(memory, wanted, start + at)
        at = content.find(given, at + 1)
    os.close(memory)
    sys.argv = [os.path.basename(script)]
    sys.orig_argv[-1:] = sys.argv


def hold_hooks():
    """Takes away the finder by which Stet's own sitecustomize changes modules after their import; its globals, or None."""
    for finder in sys.meta_path:
        if type(finder).__name__ == "AfterImport":
            sys.meta_path.remove(finder)
            return type(finder).find_spec.__globals__
    return None


def become(connection, hooks):
    """In the child: the process that the request describes."""
    request = receive(connection)
    connection.close()
    wanted = request["environment"]
    other = sorted(name for name in {**STARTED_WITH, **wanted} if STARTED_WITH.get(name) != wanted.get(name) and not name.startswith(OWN))
    if other:
        print("truth: the parent was started with another", ", ".join(other), file=sys.stderr)
        os._exit(1)
    for name in STARTED_WITH:
        del os.environ[name]
    os.environ.update(wanted)
    os.chdir(request["folder"])
    if "torch" in sys.modules:  # its path was read when torch was imported; the file is opened at the first event
        sys.modules["torch._logging._internal"].LOG_TRACE_HANDLER.root_dir = wanted["TORCH_TRACE"]
    for name in hooks["WAITING"] if hooks else ():
        if name in sys.modules:
            hooks["call"](sys.modules[name])
    run_instead(os.path.join(request["folder"], "main.py"))
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [path for path in sys.path if os.path.abspath(path) != here]


def serve(listener, limit_s):
    """In the parent: never returns. In a child: returns its connection."""
    events = selectors.DefaultSelector()
    events.register(listener, selectors.EVENT_READ)
    events.register(0, selectors.EVENT_READ)  # ends with the process that started this one
    while True:
        for key, _ in events.select():
            if key.fileobj == 0:
                os._exit(0)
            elif key.fileobj is listener:
                connection = listener.accept()[0]
                child = os.fork()
                if child == 0:
                    signal.alarm(limit_s)
                    events.close()
                    listener.close()
                    return connection
                events.register(os.pidfd_open(child), selectors.EVENT_READ, (child, connection))
            else:
                child, connection = key.data
                events.unregister(key.fileobj)
                os.close(key.fileobj)
                code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
                with contextlib.suppress(OSError), connection:
                    connection.sendall(str(code if code >= 0 else 128 - code).encode().ljust(ANSWER_BYTES))


def main():
    hooks = hold_hooks()
    for name in MODULES[os.environ["TRUTH_LANE"]]:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    threads = os.listdir("/proc/self/task")
    if len(threads) > 1:
        sys.exit(f"truth: importing starts {len(threads) - 1} threads, which no child would have")
    gc.freeze()
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(os.environ["TRUTH_SOCKET"])
    listener.listen(64)
    become(serve(listener, int(os.environ["TRUTH_LIMIT_S"])), hooks)


if "TRUTH_SOCKET" in os.environ:
    main()
