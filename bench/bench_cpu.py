"""The CPU backend beside XLA's in one process, under JAX: time to compile training steps, and to run one.

Prints a JSON object a line, as bench.h does. The plugin is build/release/lib/libstet_cpu.so.
Compiles are timed as JAX does (its event backend_compile_duration): everything between the lowered module and a loaded
executable, for a plugin also JAX's serialising of the module. They take turns, the first of each counts too. XLA's take
a second, over which a shared machine's moods even out; ours take milliseconds, so each turn of ours is a few.
"""
import json
import math
import os
import statistics
import sys
import time

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
os.environ["JAX_PLATFORMS"] = "stet,cpu"
os.environ["PJRT_NAMES_AND_LIBRARY_PATHS"] = "stet:" + os.path.join(ROOT, "build", "release", "lib", "libstet_cpu.so")
sys.path.insert(0, os.path.join(ROOT, "tests", "backend"))

import jax

import models

TURNS, COMPILES, ROUNDS, RUNS = 5, dict(stet=5, cpu=1), 15, 4


def line(bench, unit, values, against, baseline, limit=None):
    values = sorted(values)
    low, high = (values[min(len(values) - 1, int(len(values) * q))] for q in (0.1, 0.9))
    print(json.dumps(dict(bench=bench, unit=unit, value=round(statistics.median(values), 4), p10=round(low, 4), p90=round(high, 4),
                          against=against, baseline=round(baseline, 4), limit=limit)), flush=True)


TOOK = [] # seconds of each compile, as JAX measures them: the backend's part alone
jax.monitoring.register_event_duration_secs_listener(
    lambda event, seconds, **_: TOOK.append(seconds) if event == "/jax/core/compile/backend_compile_duration" else None)


def compiled(step, args, times):
    """The executable, and what each of so many compiles took."""
    took = []
    for _ in range(times):
        lowered = jax.jit(lambda *a: step(*a)).lower(*args) # another function each time: nothing is cached
        TOOK.clear()
        run = lowered.compile()
        took.append(sum(TOOK) * 1e3)
    return run, took


def run_once(run, args):
    start = time.perf_counter()
    for _ in range(RUNS):
        out = run(*args)
    jax.block_until_ready(out)
    return (time.perf_counter() - start) * 1e3 / RUNS


def compile_all(devices, args):
    """For each program and platform the executable and the times of each turn. A turn goes through all programs, so that
    one of the machine's slow moments meets one turn of each and not all of one's."""
    runs, took = {}, {name: {p: [] for p in devices} for name, *_ in models.MODELS}
    for _ in range(TURNS):
        for name, step, *_ in models.MODELS:
            for platform, device in devices.items():
                with jax.default_device(device):
                    runs[name, platform], times = compiled(step, args[name, platform], COMPILES[platform])
                took[name][platform].append(times)
    return runs, took


def main():
    devices = {name: jax.devices(name)[0] for name in ("stet", "cpu")}
    args = {(name, p): jax.device_put((state, batch), device)
            for name, _, state, batch in models.MODELS for p, device in devices.items()}
    runs, took = compile_all(devices, args)
    for name, *_ in models.MODELS:
        ours, theirs = (sum(took[name][p], []) for p in ("stet", "cpu"))
        line(f"cpu.compile.{name}", "ms", ours, "XLA:CPU", statistics.median(theirs))
        steps = {p: [] for p in devices}
        for _ in range(ROUNDS): # in turns, so that both see the same machine
            for p in devices:
                steps[p].append(run_once(runs[name, p], args[name, p]))
        theirs = statistics.median(steps["cpu"])
        limit = 3 * theirs if name in ("transformer", "cnn", "mlp") else None
        line(f"cpu.step.{name}", "ms", steps["stet"], "XLA:CPU", theirs, limit)
    means = [math.exp(statistics.mean(math.log(statistics.median(t["stet"][turn]) / statistics.median(t["cpu"][turn]))
                                      for t in took.values())) for turn in range(TURNS)]
    times = ", ".join(f"{1 / mean:.1f}" for mean in means)
    line("cpu.compile.share", "%", [100 * mean for mean in means],
         f"XLA:CPU; {times} times faster, geometric means of each turn", 100, 2)


if __name__ == "__main__":
    main()
