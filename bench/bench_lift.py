"""What lifting costs: a step of a lifted program beside a step of the plain one, and the layer's work for a new value.

usage: bench_lift.py [BUILD_DIR] [--plugin]     build/release unless said; --plugin: the plugin that JAX finds, not the CPU backend

Prints a JSON object a line, as bench.h does. JAX runs the training step of tests/conformance/make_program.py (about 35 KB)
under `stet run --lift`. The first learning rate's program is the plain one; the third one is lifted. Steps of both take turns,
and so do the orders. A step is measured by the clock, and by the processor time of all threads of the process. The limit is on
the clock, unless other processes used more than a twentieth of the machine's processors meanwhile, as /proc/stat counts them:
then it is on the processor time, which they disturb less, and standard error says so. The work for a new value is what the
journal has as `served_s`: reading the program, finding its family, comparing, and copying the values to the device.
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
BUSY = 0.05
LAYERS, WIDTH, LENGTH, BATCH = 18, 64, 32, 4
VALUES, PAIRS = 30, int(os.environ.get("PAIRS", 300))


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

    before = processors()
    for i in range(PAIRS):
        first = timed(steps[0]) if i % 2 else None
        lifted = timed(steps[2])
        print(json.dumps([first or timed(steps[0]), lifted]), flush=True)
    print(json.dumps(used_by_others(before, processors())))


def processors():
    """Seconds that all processors had, and were busy, and that this process used."""
    tick = os.sysconf("SC_CLK_TCK")
    with open("/proc/stat") as stat:
        user, nice, system, idle, iowait, irq, softirq, steal = (int(n) / tick for n in stat.readline().split()[1:9])
    busy = user + nice + system + irq + softirq + steal
    return busy + idle + iowait, busy, time.process_time()


def used_by_others(before, after):
    """The share of all processors, from 0 to 1; None where /proc/stat does not count."""
    had, busy, own = (b - a for a, b in zip(before, after))
    return max(0, busy - own) / had if had else None


def line(name, unit, values, against, baseline, limit):
    values = sorted(values)
    print(json.dumps({"bench": name, "unit": unit, "value": statistics.median(values), "p10": values[len(values) // 10],
                      "p90": values[len(values) * 9 // 10], "against": against, "baseline": baseline, "limit": limit}))


def main():
    others = [a for a in sys.argv[1:] if not a.startswith("-")]
    stet = pathlib.Path(others[0] if others else ROOT / "build" / "release").resolve() / "bin" / "stet"
    options = ["--no-store", "--lift"] + ([] if "--plugin" in sys.argv else ["--cpu"])
    with tempfile.TemporaryDirectory() as state:
        environment = dict(os.environ, STET_STATE_DIR=state)
        done = subprocess.run([stet, "run", *options, "--", sys.executable, __file__, "--child"],
                              env=environment, stdout=subprocess.PIPE, text=True, check=True)
        shown = subprocess.run([stet, "show", "--format=json"], env=environment, stdout=subprocess.PIPE, text=True, check=True)
    *pairs, others = [json.loads(text) for text in done.stdout.splitlines()]
    compiles = [c for p in json.loads(shown.stdout)["processes"] for c in p["compiles"] if c["name"] == "jit_step"]
    lifted = [c for c in compiles if c["served"] == "lifted"]
    quiet = others is None or others <= BUSY
    print(f"program of {compiles[0]['bytes']} bytes, {len(lifted)} of {len(compiles)} values lifted\n"
          f"other processes used {'an unknown share' if others is None else f'{100 * others:.1f} %'} of {os.cpu_count()} processors: "
          f"the limit is on {'the clock' if quiet else 'processor time'}", file=sys.stderr)
    for k, (name, limit) in enumerate((("clock", 0.5 if quiet else None), ("processor", None if quiet else 0.5))):
        line("lift.step." + name, "%", [100 * (b[k] / a[k] - 1) for a, b in pairs], "the plain program's step, in ms",
             1e3 * statistics.median(a[k] for a, _ in pairs), limit)
    line("lift.value", "ms", [1e3 * c["served_s"] for c in lifted], "the plugin's compile of the plain program",
         1e3 * compiles[0]["cost_s"], 1)


if __name__ == "__main__":
    child() if "--child" in sys.argv else main()
