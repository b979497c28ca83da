"""What lifting costs: a step of a lifted program beside a step of the plain one, and the layer's work for a new value.

Prints a JSON object a line, as bench.h does. JAX runs the training step of tests/conformance/make_program.py (about 35 KB) on
the CPU backend under `stet run --lift`. The first learning rate's program is the plain one; the third one is lifted. Steps of
both take turns, and so do the orders. A step is measured by the clock, and by the processor time of all threads of the
process, which other processes disturb less; the limit is on the latter. The work for a new value is what the journal has as `served_s`: reading the program,
finding its family, comparing, and copying the values to the device.
"""
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
STET = ROOT / "build" / "release" / "bin" / "stet"
LAYERS, WIDTH, LENGTH, BATCH = 18, 64, 32, 4
VALUES, PAIRS = 30, 300


def child():
    import jax
    import jax.numpy as jnp

    def block(params, x):
        q, k, v = jnp.split(x @ params["qkv"], 3, axis=-1)
        x = x + (jax.nn.softmax(q @ k.swapaxes(-1, -2) / WIDTH**0.5) @ v) @ params["out"]
        return x + jax.nn.gelu(x @ params["up"]) @ params["down"]

    def loss(params, x, y):
        for layer in params:
            x = block(layer, x)
        return jnp.mean((x - y) ** 2)

    def make(rate):
        @jax.jit
        def step(params, momentum, x, y):
            value, grads = jax.value_and_grad(loss)(params, x, y)
            momentum = jax.tree.map(lambda m, g: 0.9 * m + g, momentum, grads)
            return jax.tree.map(lambda p, m: p - rate * m, params, momentum), momentum, value

        return step

    shapes = {"qkv": (WIDTH, 3 * WIDTH), "out": (WIDTH, WIDTH), "up": (WIDTH, 4 * WIDTH), "down": (4 * WIDTH, WIDTH)}
    params = [{k: jnp.full(s, 0.01, jnp.float32) for k, s in shapes.items()} for _ in range(LAYERS)]
    momentum = jax.tree.map(jnp.zeros_like, params)
    x = jnp.ones((BATCH, LENGTH, WIDTH))
    steps = []
    for i in range(VALUES):
        steps.append(make(1e-3 * 0.9**i))
        jax.block_until_ready(steps[-1](params, momentum, x, x))

    def timed(step):
        clock, processor = time.perf_counter(), time.process_time()
        jax.block_until_ready(step(params, momentum, x, x))
        return time.perf_counter() - clock, time.process_time() - processor

    for i in range(PAIRS):
        first = timed(steps[0]) if i % 2 else None
        lifted = timed(steps[2])
        print(json.dumps([first or timed(steps[0]), lifted]), flush=True)


def line(name, unit, values, against, baseline, limit):
    values = sorted(values)
    print(json.dumps({"bench": name, "unit": unit, "value": statistics.median(values), "p10": values[len(values) // 10],
                      "p90": values[len(values) * 9 // 10], "against": against, "baseline": baseline, "limit": limit}))


def main():
    with tempfile.TemporaryDirectory() as state:
        environment = dict(os.environ, STET_STATE_DIR=state)
        done = subprocess.run([STET, "run", "--cpu", "--no-store", "--lift", "--", sys.executable, __file__, "--child"],
                              env=environment, stdout=subprocess.PIPE, text=True, check=True)
        shown = subprocess.run([STET, "show", "--format=json"], env=environment, stdout=subprocess.PIPE, text=True, check=True)
    pairs = [json.loads(text) for text in done.stdout.splitlines()]
    compiles = [c for p in json.loads(shown.stdout)["processes"] for c in p["compiles"] if c["name"] == "jit_step"]
    lifted = [c for c in compiles if c["served"] == "lifted"]
    print(f"program of {compiles[0]['bytes']} bytes, {len(lifted)} of {len(compiles)} values lifted", file=sys.stderr)
    for name, k, limit in (("lift.step.clock", 0, None), ("lift.step.added", 1, 0.5)):
        line(name, "%", [100 * (b[k] / a[k] - 1) for a, b in pairs], "the plain program's step, in ms",
             1e3 * statistics.median(a[k] for a, _ in pairs), limit)
    line("lift.value", "ms", [1e3 * c["served_s"] for c in lifted], "the plugin's compile of the plain program",
         1e3 * compiles[0]["cost_s"], 1)


if __name__ == "__main__":
    child() if "--child" in sys.argv else main()
