"""Training steps on several devices that bake a drifting value into their program: data-parallel and
tensor-parallel, with shardings, with shard_map and with pmap. Writes all results to the file that is
named on the command line. GSPMD=1 uses XLA's shardings instead of Shardy's."""
import os
import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import AxisType, NamedSharding, PartitionSpec as P

FIRST = int(os.environ.get("FIRST_VALUE", 0))
VALUES = int(os.environ.get("VALUES", 50))
jax.config.update("jax_use_shardy_partitioner", not os.environ.get("GSPMD"))

COUNT = len(jax.devices())
AUTO = jax.make_mesh((COUNT // 2, 2), ("data", "model"), axis_types=(AxisType.Auto,) * 2)
EXPLICIT = jax.make_mesh((COUNT,), ("data",), axis_types=(AxisType.Explicit,))
LINE = jax.make_mesh((COUNT,), ("line",), axis_types=(AxisType.Auto,))
X = np.linspace(-2, 2, 16 * 8, dtype=np.float32).reshape(16, 8)
LONG = np.linspace(-2, 2, 128 * 8, dtype=np.float32).reshape(128, 8)  # each value has a row of its own
W = np.linspace(-1, 1, 8 * 4, dtype=np.float32).reshape(8, 4)


def put(value, mesh, *spec):
    return jax.device_put(value, NamedSharding(mesh, P(*spec)))


def loss(w, x):
    return (jnp.tanh(x @ w) ** 2).mean()


def rate(i):
    return 1e-1 * 0.9**i


def data_parallel(i):
    def data_parallel(w, x):
        return w - rate(i) * jax.grad(loss)(w, x), loss(w, x)

    return jax.jit(data_parallel, donate_argnums=0)(put(W, AUTO), put(X, AUTO, ("data", "model")))


def tensor_parallel(i):
    def tensor_parallel(w, x):
        hidden = jax.lax.with_sharding_constraint(
            jnp.tanh(x @ w), NamedSharding(AUTO, P("data", "model")))
        return hidden * (1 + i) + i, w - rate(i) * jax.grad(loss)(w, x)

    return jax.jit(tensor_parallel)(put(W, AUTO, None, "model"), put(X, AUTO, "data"))


def explicit(i):
    def explicit(w, x):
        return w - rate(i) * jax.grad(loss)(w, x)

    return jax.jit(explicit)(put(W, EXPLICIT), put(X, EXPLICIT, "data"))


def closed_over(i):
    table = np.random.default_rng(i).standard_normal((8, 4)).astype(np.float32)

    def closed_over(x):
        return jnp.maximum(x @ table, 0)

    return jax.jit(closed_over)(put(X, AUTO, "data", "model"))


def window(i):
    def window(x):
        return x[i : i + 4] * 2

    return jax.jit(window)(put(LONG, AUTO, "data"))


def mapped(i):
    table = np.random.default_rng(i).standard_normal((8, 4)).astype(np.float32)

    def step(w, x):
        w = w - rate(i) * jax.lax.pmean(jax.grad(loss)(w, x), ("data", "model"))
        y = jax.lax.fori_loop(0, 3, lambda k, v: v * (1 + i) + 1e-3, x @ w)
        return w, y + x @ table

    def mapped(w, x):
        return jax.shard_map(step, mesh=AUTO, in_specs=(P(), P(("data", "model"))),
                             out_specs=(P(), P(("data", "model"))), check_vma=False)(w, x)

    return jax.jit(mapped, donate_argnums=0)(put(W, AUTO), put(X, AUTO, ("data", "model")))


def partly_mapped(i):
    def step(w, x):
        return w - rate(i) * jax.lax.pmean(jax.grad(loss)(w, x), "data")

    def partly_mapped(w, x):
        return jax.shard_map(step, mesh=AUTO, in_specs=(P(), P("data")), out_specs=P(),
                             axis_names={"data"}, check_vma=False)(w, x)

    return jax.jit(partly_mapped)(put(W, AUTO, None, "model"), put(X, AUTO, "data"))


def replicated(i):
    def replicated(w, x):
        return w - rate(i) * jax.lax.pmean(jax.grad(loss)(w, x), "devices")

    x = X.reshape(COUNT, 16 // COUNT, 8)
    return jax.pmap(replicated, axis_name="devices", in_axes=(None, 0))(W, x)


def device_number(i):
    def step(x):
        return x * (1 + i) + jax.lax.axis_index("data")

    def device_number(x):
        return jax.shard_map(step, mesh=AUTO, in_specs=P("data"), out_specs=P("data"))(x)

    return jax.jit(device_number)(put(X, AUTO, "data"))


def replica_number(i):
    def replica_number(x):
        return x * (1 + i) + jax.lax.axis_index("devices")

    return jax.pmap(replica_number, axis_name="devices")(X.reshape(COUNT, 16 // COUNT, 8))


def two_meshes(i):
    """The arguments are on one mesh, and the region is of another one over the same devices."""
    def step(x):
        return x * (1 + i) + jax.lax.psum(x, "line")

    def two_meshes(x):
        y = jax.lax.with_sharding_constraint(x + i, NamedSharding(AUTO, P("data", "model")))
        return jax.shard_map(step, mesh=LINE, in_specs=P("line"), out_specs=P("line"))(y)

    return jax.jit(two_meshes)(put(X, AUTO, "data"))


def ring(i):
    """Other neighbours in each program, so no two of them are one family."""
    def step(x):
        pairs = [(k, (k + i) % COUNT) for k in range(COUNT)]
        return jax.lax.ppermute(x * (1 + i), "data", pairs)

    def ring(x):
        return jax.shard_map(step, mesh=EXPLICIT, in_specs=P("data"), out_specs=P("data"))(x)

    return jax.jit(ring)(put(X, EXPLICIT, "data"))


CASES = [data_parallel, tensor_parallel, explicit, closed_over, window, mapped, replicated,
         device_number, replica_number, two_meshes, ring]
if not os.environ.get("GSPMD"):  # the CPU backend has it in Shardy's form alone
    CASES.append(partly_mapped)


def main():
    results = {}
    for case in CASES:
        for i in range(FIRST, FIRST + VALUES):
            for k, leaf in enumerate(jax.tree.leaves(case(i))):
                name = f"{case.__name__}.{i}.{k}"
                results[name] = np.asarray(leaf)
                results[name + ".sharding"] = np.array(str(leaf.sharding))
                for shard in leaf.addressable_shards:
                    results[f"{name}.{shard.device.id}"] = np.asarray(shard.data)
    np.savez(sys.argv[1], **results)


if __name__ == "__main__":
    main()
