"""Counts compiles without Stet, by what the framework itself reports.

Reads one JSON request a line ({"folder": ..., "script": ...}) and answers with one line. Each script runs in a
forked copy of this process, which has the framework imported, so that a count costs a fraction of a start.

  JAX    the "Compiling NAME" messages of jax_log_compiles, in order: {"compiles": [name, ...]}
  torch  torch's own logs "recompiles" and "graph_breaks": {"compiles": [function, ...], "breaks": n}
"""
import contextlib
import io
import json
import logging
import os
import re
import runpy
import signal
import sys
import traceback


def jax_counter():
    import jax
    import numpy  # noqa: F401
    for name in ("optax", "flax.linen", "flax.nnx", "equinox", "haiku", "numpyro"):
        with contextlib.suppress(ImportError):
            __import__(name)
    jax.config.update("jax_platforms", "cpu")
    # Compiles are counted, not timed: what an earlier script compiled comes from a cache, after JAX has logged it.
    jax.config.update("jax_disable_most_optimizations", True)
    jax.config.update("jax_compilation_cache_dir", os.path.abspath("witness-cache"))
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)
    jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)
    jax.config.update("jax_log_compiles", True)
    events = []

    class Handler(logging.Handler):
        def emit(self, record):
            found = re.match(r"Compiling (?:jit\()?([^\s)]+)\)? with global shapes", record.getMessage())
            if found:
                events.append(found.group(1))

    logger = logging.getLogger("jax")
    logger.addHandler(Handler())
    logger.propagate = False
    return lambda: {"compiles": events}


def torch_counter():
    import torch
    import torch._dynamo
    events, breaks = [], []

    class Handler(logging.Handler):
        def emit(self, record):
            text = record.getMessage()
            events.extend(re.findall(r"Recompiling function (\S+) in", text))
            breaks.extend(re.findall(r"Graph break", text)[:1])

    torch._logging.set_logs(recompiles=True, graph_breaks=True)
    for name in list(logging.Logger.manager.loggerDict):
        if name.endswith(("__recompiles", "__graph_breaks")):
            logging.getLogger(name).handlers = [Handler()]
    return lambda: {"compiles": events, "breaks": len(breaks)}


def run_script(request, counter):
    """In the forked child: the script's answer, or why it failed."""
    folder = request["folder"]
    os.chdir(folder)
    sys.path.insert(0, folder)
    sys.argv = [request["script"]]
    if request["devices"] > 1:
        sys.modules["jax"].config.update("jax_num_cpu_devices", request["devices"])
    out, sys.stdout = sys.stdout, io.StringIO()
    try:
        runpy.run_path(os.path.join(folder, request["script"]), run_name="__main__")
        answer = counter()
    except BaseException:
        answer = {"error": traceback.format_exc()[-3000:]}
    sys.stdout = out
    return answer


def serve(counter, limit_s):
    for line in sys.stdin:
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            signal.alarm(limit_s)
            os.close(read)
            with os.fdopen(write, "w") as pipe:
                json.dump(run_script(json.loads(line), counter), pipe)
            os._exit(0)
        os.close(write)
        with os.fdopen(read) as pipe:
            text = pipe.read()
        os.waitpid(child, 0)
        print(text or json.dumps({"error": "the script ended its process, or ran too long"}), flush=True)


if __name__ == "__main__":
    serve({"jax": jax_counter, "torch": torch_counter}[sys.argv[1]](), int(sys.argv[2]))
