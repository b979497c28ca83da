"""Lifted programs on XLA, of one device and of two: real MLIR accepts them, XLA:CPU compiles them, and their results are the
plain program's. Prints a table of how far results are apart, since XLA folds constants. The values are those of the second
program. RANDOM random programs (8) come after it; of them, only that XLA takes them is required, and how far they are apart is
printed.

usage: xla.py STET_LIFT [RANDOM]"""
import os
import pathlib
import subprocess
import sys
import tempfile
import time

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=2 " + os.environ.get("XLA_FLAGS", "")

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import AxisType, NamedSharding, PartitionSpec as P
from jax._src.interpreters import mlir
from jax._src.lib import xla_client
from jax._src.lib.mlir import ir

LIFT = sys.argv[1]
X = np.linspace(-2, 2, 48, dtype=np.float32).reshape(8, 6)
LIMIT = 4  # units in the last place, as the layer allows
# XLA computes this power while it compiles, with another rounding, and the difference cancels.
ROUNDS = {"x * c / (1 - c ** 3)"}


def step(lr):
    def f(w, x):
        return w - lr * jax.grad(lambda v: ((jnp.tanh(x @ v)) ** 2).mean())(w)

    return f, (np.ones((6, 3), np.float32), X)


def nested(c):
    def f(x):
        y = jax.lax.fori_loop(0, 4, lambda k, v: v * c + 0.001, x)
        return jax.lax.cond(y.sum() > c, lambda v: v * c, lambda v: v - c, y), jnp.where(x > c, x, c)

    return f, (X,)


def window(start):
    def f(x):
        return x[start : start + 2], jax.grad(lambda v: (v[start : start + 2] ** 2).sum())(x)

    return f, (X,)


def table(i):
    values = np.random.default_rng(i).standard_normal((6, 4)).astype(np.float32)
    return (lambda x: jnp.maximum(x @ values, 0)), (X,)


def images(i):
    values = np.random.default_rng(i).standard_normal((4, 1, 6, 6)).astype(np.float32)

    def f(x):
        kernel = x[:3, :3][None, None]
        return jax.value_and_grad(lambda v: (jax.lax.conv(values, v, (1, 1), "SAME") ** 2).mean())(kernel)

    return f, (X,)


def rematerialized(i):
    values = np.random.default_rng(i).standard_normal((5, X.shape[0])).astype(np.float32)

    def f(x):
        return jax.value_and_grad(jax.checkpoint(lambda v: jnp.tanh(jnp.asarray(values) @ v).sum()))(x)

    return f, (X,)


def dropout(rate):
    def f(x):
        kept = jax.random.bernoulli(jax.random.split(jax.random.key(0))[0], 1 - rate, x.shape)
        return jnp.where(kept, x / (1 - rate), 0)

    return f, (X,)


def factored(c):
    def f(x):
        return jnp.linalg.svd(x * c, compute_uv=False), jax.lax.top_k(x * c, 2)[0]

    return f, (X,)


def one(name, make, values, dtype=np.float32):
    return name, [(lambda x, v=v: make(x, v), (X.astype(dtype),)) for v in values]


CASES = [
    ("a learning rate", [step(v) for v in (1e-3, 9.99e-4)]),
    ("a loop and branches", [nested(v) for v in (0.5, 0.25)]),
    ("a slice and its gradient", [window(v) for v in (1, 4)]),
    ("dropout", [dropout(v) for v in (0.5, 0.25)]),
    ("beside a custom call", [factored(v) for v in (2.0, 3.0)]),
    ("a closed-over array", [table(v) for v in (1, 2)]),
    ("closed-over images of a convolution", [images(v) for v in (1, 2)]),
    ("a closed-over array and jax.checkpoint", [rematerialized(v) for v in (1, 2)]),
    one("x * c", lambda x, c: x * c, (1.1, 1.3)),
    one("x + c", lambda x, c: x + c, (1.1, 1.3)),
    one("x / c", lambda x, c: x / c, (1.1, 1.3)),
    one("c / x", lambda x, c: c / x, (1.1, 1.3)),
    one("x ** c", lambda x, c: jnp.abs(x) ** c, (2.5, 1.3)),
    one("exp(x * c)", lambda x, c: jnp.exp(x * c), (1.1, 1.3)),
    one("softmax(x / c)", lambda x, c: jax.nn.softmax(x / c), (1.1, 1.3)),
    one("(x + c) * c - c", lambda x, c: (x + c) * c - c, (1.1, 1.3)),
    one("x * c / (1 - c ** 3)", lambda x, c: x * c / (1 - jnp.float32(c) ** 3), (0.9, 0.99)),
    one("sqrt(c) * x", lambda x, c: jnp.sqrt(jnp.float32(c)) * x, (1.1, 1.3)),
    one("x * 0", lambda x, c: x * c, (1.0, 0.0)),
    one("exp(c) * x", lambda x, c: jnp.exp(jnp.float32(c)) * x, (1.1, 1.3)),
    one("x / 1.1, after x / 1024", lambda x, c: x / c, (1024.0, 1.1)),
    one("x ** 2, after x ** 2.5", lambda x, c: jnp.abs(x) ** c, (2.5, 2.0)),
    one("x ** 0.5, after x ** 2.5", lambda x, c: jnp.abs(x) ** c, (2.5, 0.5)),
    one("x * 1e-40", lambda x, c: x * c, (1.1, 1e-40)),
    one("(x * 3) * c", lambda x, c: (x * 3) * c, (1.1, 1.3)),
    one("bfloat16: x / c", lambda x, c: x / c, (1.1, 1.3), jnp.bfloat16),
]


# ---- two devices ----

def mesh():
    return jax.make_mesh((2,), ("d",), axis_types=(AxisType.Auto,))


def sharded(rate):
    def f(w, x):
        return w - rate * jax.grad(lambda v: ((jnp.tanh(x @ v)) ** 2).mean())(w), x * rate

    return f, (np.ones((6, 3), np.float32), X), (P(), P("d"))


def mapped(rate):
    def body(w, x):
        gradient = jax.grad(lambda v: ((jnp.tanh(x @ v)) ** 2).mean())(w)
        return w - rate * jax.lax.pmean(gradient, "d"), x * rate

    def f(w, x):
        return jax.shard_map(body, mesh=mesh(), in_specs=(P(), P("d")), out_specs=(P(), P("d")),
                             check_vma=False)(w, x)

    return f, (np.ones((6, 3), np.float32), X), (P(), P("d"))


def numbered(rate):
    def body(x):
        return x * rate + jax.lax.axis_index("d")

    def f(x):
        return jax.shard_map(body, mesh=mesh(), in_specs=P("d"), out_specs=P("d"))(x)

    return f, (X,), (P("d"),)


def two_meshes(rate):
    other = jax.make_mesh((2,), ("e",), axis_types=(AxisType.Auto,))

    def f(x):
        y = jax.lax.with_sharding_constraint(x * rate, NamedSharding(mesh(), P("d")))
        return jax.shard_map(lambda v: v * rate + jax.lax.psum(v, "e"), mesh=other, in_specs=P("e"),
                             out_specs=P("e"))(y)

    return f, (X,), (P("d"),)


TWO = [(f"two devices, {name}, {language}", [make(v) for v in (1e-3, 9.99e-4)], shardy)
       for name, make in (("sharded", sharded), ("shard_map", mapped), ("axis_index", numbered),
                          ("two meshes", two_meshes))
       for language, shardy in (("Shardy", True), ("GSPMD", False))]


def execute(client, module, arguments, count=1, shardy=True):
    """All results of the module on XLA:CPU, of each device."""
    options = xla_client.CompileOptions()
    devices = xla_client.DeviceList(tuple(client.local_devices()[:count]))
    if count > 1:
        build = options.executable_build_options
        options.num_partitions = build.num_partitions = count
        build.use_spmd_partitioning, build.use_shardy_partitioner = True, shardy
        build.device_assignment = xla_client.DeviceAssignment.create(np.arange(count).reshape(1, -1))
    with mlir.make_ir_context():
        code = mlir.module_to_bytecode(ir.Module.parse(module))
    begin = time.perf_counter()
    loaded = client.compile_and_load(code, devices, options)
    took = time.perf_counter() - begin
    places = (arguments if count > 1 else
              [jax.device_put(a, client.local_devices()[0]) for a in arguments])
    results = loaded.execute_sharded(places).disassemble_into_single_device_arrays()
    return [np.asarray(part) for r in results for part in r], took


def apart(a, b):
    """Units in the last place; two NaNs are equal, and so are both zeros."""
    kind = {2: np.int16, 4: np.int32, 8: np.int64}[a.dtype.itemsize]
    x, y = (v.view(kind).astype(np.int64) for v in (a, b))
    x, y = (np.where(v < 0, -(v - np.iinfo(kind).min), v) for v in (x, y))
    both = np.isnan(a.astype(np.float32)) & np.isnan(b.astype(np.float32))
    return int(np.where(both, 0, np.abs(x - y)).max())


def lift(folder, texts):
    paths = [folder / "base.mlir", folder / "other.mlir", folder / "lifted.mlir"]
    for path, text in zip(paths, texts):
        path.write_text(text)
    done = subprocess.run([LIFT, *paths], capture_output=True, text=True)
    if done.returncode:
        sys.exit("refused: " + done.stdout)
    return paths[2].read_text(), int(done.stdout.split()[0]), paths[2]


def values_of(text, count, path):
    """The lifted arguments; their types are the last ones of main."""
    with mlir.make_ir_context():
        module = ir.Module.parse(text)
        main = next(op for op in module.body.operations
                    if op.operation.name == "func.func" and op.name.value == "main")
        types = [ir.RankedTensorType(t) for t in list(main.type.inputs)[-count:]]
        kinds = [({"f32": np.float32, "i32": np.int32, "bf16": jnp.bfloat16, "f16": np.float16, "f64": np.float64,
                   "i1": np.bool_}[str(t.element_type)],
                  t.shape) for t in types]
    return [np.frombuffer(pathlib.Path(f"{path}.{i}").read_bytes(), kind).reshape(shape)
            for i, (kind, shape) in enumerate(kinds)]


def lifted_of(texts):
    with tempfile.TemporaryDirectory() as folder:
        text, count, path = lift(pathlib.Path(folder), texts)
        return text, values_of(text, count, path)


def compare(name, count, plain, lifted):
    """Prints a row of the table; true if the results are too far apart."""
    far = max(apart(a, b) for a, b in zip(plain, lifted, strict=True))
    same = all(a.tobytes() == b.tobytes() for a, b in zip(plain, lifted))
    print(f"| {name} | {count} | {'bit-equal' if same else f'{far} ulp apart'} |")
    return far > LIMIT and name not in ROUNDS


def two_devices(client, name, programs, shardy):
    jax.config.update("jax_use_shardy_partitioner", shardy)
    specs = programs[0][2]
    arguments = [jax.device_put(a, NamedSharding(mesh(), s)) for a, s in zip(programs[1][1], specs)]
    texts = [jax.jit(f).lower(*arguments).as_text() for f, *_ in programs]
    text, values = lifted_of(texts)
    whole = [jax.device_put(v, NamedSharding(mesh(), P())) for v in values]
    plain, _ = execute(client, texts[1], arguments, 2, shardy)
    lifted, _ = execute(client, text, [*arguments, *whole], 2, shardy)
    return compare(name, len(values), plain, lifted)


def random_programs(client, count):
    """How many of the random programs are how far apart."""
    found = {}
    x = np.linspace(-3, 3, 24, dtype=np.float32).reshape(4, 6)
    for seed in range(1, count + 1):
        with tempfile.TemporaryDirectory() as folder:
            paths = [pathlib.Path(folder) / name for name in ("base.mlir", "other.mlir")]
            subprocess.run([LIFT, "--random", str(seed), *paths], check=True)
            texts = [path.read_text() for path in paths]
            done = subprocess.run([LIFT, *paths, f"{folder}/lifted.mlir"], capture_output=True, text=True)
            if done.returncode:  # no value differs
                found[done.stdout.strip()] = found.get(done.stdout.strip(), 0) + 1
                continue
            text = pathlib.Path(f"{folder}/lifted.mlir").read_text()
            values = values_of(text, int(done.stdout.split()[0]), f"{folder}/lifted.mlir")
        with jax.enable_x64(True):  # a value may be of 64 bits
            plain, _ = execute(client, texts[1], [x])
            lifted, _ = execute(client, text, [x, *values])
        same = plain[0].tobytes() == lifted[0].tobytes()
        far = apart(plain[0], lifted[0])
        key = "bit-equal" if same else f"within {LIMIT} ulp" if far <= LIMIT else f"more than {LIMIT} ulp apart"
        found[key] = found.get(key, 0) + 1
    return found


def main():
    client = jax.devices("cpu")[0].client
    wrong, compiled = 0, (0, 0)
    print("| program | values | plain and lifted |\n|---|---|---|")
    for name, programs in CASES:
        texts = [jax.jit(f).lower(*arguments).as_text() for f, arguments in programs]
        arguments = programs[1][1]
        text, values = lifted_of(texts)
        plain, plain_s = execute(client, texts[1], arguments)
        lifted, lifted_s = execute(client, text, [*arguments, *values])
        compiled = compiled[0] + plain_s, compiled[1] + lifted_s
        wrong += compare(name, len(values), plain, lifted)
    for name, programs, shardy in TWO:
        wrong += two_devices(client, name, programs, shardy)
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 8
    print(f"{count} random programs:", ", ".join(f"{n} {key}" for key, n in sorted(random_programs(client, count).items())))
    print("XLA compiled the plain programs in {:.2f} s and the lifted ones in {:.2f} s".format(*compiled))
    sys.exit(f"{wrong} are further apart than {LIMIT} ulp" if wrong else 0)


if __name__ == "__main__":
    main()
