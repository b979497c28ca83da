"""Records programs with an older JAX: the bytecode it writes and the text its own MLIR prints of them.

Run by a Python that has such a JAX; the files land in tests/data/older/VERSION. CTest's differential.older
reads text and bytes and wants the same programs, down to their locations.

    record_older.py tests/data/older [PROGRAM…]
"""
import io
import os
import pathlib
import sys

os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=4"
import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402
from jax import lax  # noqa: E402
from jaxlib.mlir import ir  # noqa: E402
from jaxlib.mlir.dialects import stablehlo  # noqa: E402

# No path of the machine this ran on.
jax.config.update("jax_hlo_source_file_canonicalization_regex", ".*/")

F = jnp.ones((4, 8), jnp.float32)


def loss(w, x):
    return jnp.mean((jnp.tanh(x @ w["a"]) @ w["b"]) ** 2)


W = {"a": jnp.ones((8, 16)), "b": jnp.ones((16, 2))}


def step(w, x):
    value, grad = jax.value_and_grad(loss)(w, x)
    return jax.tree_util.tree_map(lambda p, g: p - 0.01 * g, w, grad), value


def scan(x):
    return lax.scan(lambda c, v: (c + v, jnp.sin(c)), jnp.zeros(8), x)


def branch(i, x):
    return lax.switch(i, [jnp.sin, jnp.cos, lambda v: lax.while_loop(lambda s: s[0] < 3, lambda s: (s[0] + 1, s[1] * 2), (0, v))[1]], x)


def convolution(x, k):
    y = lax.conv_general_dilated(x, k, (2, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
    return lax.reduce_window(y, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")


def indexing(x, i):
    return x[i], x.at[i].add(1.0), lax.dynamic_slice(x, (i[0], 0), (1, 4)), jnp.sort(x, axis=1)


def random(key):
    return jax.random.normal(key, (3, 2)), jax.random.bits(key, (4,))


def narrow(a, b):
    return a.astype(jnp.bfloat16) @ b.astype(jnp.bfloat16), a.astype(jnp.float8_e4m3fn), a.astype(jnp.int4)


def numbers(z):
    return jnp.fft.fft(z), lax.linalg.cholesky(jnp.eye(3)), jnp.exp(z) * np.array([1.5, np.nan, -np.inf, 0, 0.1, 2], np.float32)


def sharded():
    from jax.sharding import Mesh, NamedSharding, PartitionSpec

    mesh = Mesh(np.array(jax.devices()).reshape(2, 2), ("d", "m"))
    where = NamedSharding(mesh, PartitionSpec("d", "m"))
    f = jax.jit(lambda x: lax.with_sharding_constraint(jnp.sin(x), where), in_shardings=where, donate_argnums=0)
    return f.lower(F)


def collective():
    from jax.experimental.shard_map import shard_map
    from jax.sharding import Mesh, PartitionSpec

    mesh = Mesh(np.array(jax.devices()), ("d",))
    inner = shard_map(lambda x: lax.psum(x, "d") + lax.all_gather(x, "d", tiled=True).sum(), mesh=mesh,
                      in_specs=PartitionSpec("d"), out_specs=PartitionSpec(), check_rep=False)
    return jax.jit(inner).lower(F)


def dynamic():
    from jax import export

    b, = export.symbolic_shape("b")
    return export.export(jax.jit(lambda x: x.sum(0) + x.shape[0]))(jax.ShapeDtypeStruct((b, 4), jnp.float32)).mlir_module_serialized


def callback(x):
    return jax.pure_callback(lambda v: v, jax.ShapeDtypeStruct(x.shape, x.dtype), x)


PROGRAMS = {
    "step": lambda: jax.jit(step, donate_argnums=0).lower(W, F),
    "scan": lambda: jax.jit(jax.grad(lambda x: scan(x)[1].sum())).lower(F),
    "branch": lambda: jax.jit(branch).lower(1, F),
    "convolution": lambda: jax.jit(convolution).lower(jnp.ones((1, 8, 8, 3)), jnp.ones((3, 3, 3, 4))),
    "indexing": lambda: jax.jit(indexing).lower(F, jnp.arange(2)),
    "random": lambda: jax.jit(random).lower(jax.random.PRNGKey(0)),
    "narrow": lambda: jax.jit(narrow).lower(F, F.T),
    "numbers": lambda: jax.jit(numbers).lower(jnp.ones(6, jnp.complex64)),
    "sharded": sharded,
    "collective": collective,
    "dynamic": dynamic,
    "callback": lambda: jax.jit(callback).lower(F),
}


def portable(module):
    """VHLO, by the way JAX itself took then."""
    version = stablehlo.get_current_version()
    try:
        from jax._src.lib import _jax

        return _jax.mlir.serialize_portable_artifact(module, version, use_mixed_serialization=True)
    except (ImportError, AttributeError, TypeError):
        from jax._src.lib import xla_client

        return xla_client._xla.mlir.serialize_portable_artifact(
            module.operation.get_asm(binary=True, enable_debug_info=True), version)


def reread(data):
    """Text of what this release's MLIR reads back."""
    from jax._src.interpreters import mlir

    try:
        from jax._src.lib import xla_client

        data = xla_client._xla.mlir.deserialize_portable_artifact(data)
    except (ImportError, AttributeError):
        from jax._src.lib import _jax

        data = _jax.mlir.deserialize_portable_artifact(data)
    if isinstance(data, (str, bytes)):
        with mlir.make_ir_context():
            return ir.Module.parse(data).operation.get_asm(binary=True, enable_debug_info=True)
    return data.operation.get_asm(binary=True, enable_debug_info=True)


def record(folder, name, module):
    out = io.BytesIO()
    module.operation.write_bytecode(out)
    (folder / f"{name}.raw.mlirbc").write_bytes(out.getvalue())
    for form, options in {"short": {}, "generic": {"print_generic_op_form": True}}.items():
        text = module.operation.get_asm(binary=True, enable_debug_info=True, **options)
        (folder / f"{name}.raw.{form}.mlir").write_bytes(text)
    try:  # on its way there JAX takes some operations apart: another program, with a text of its own
        write_portable(folder, name, portable(module))
    except Exception as error:  # noqa: BLE001 - another dialect is in it
        print(jax.__version__, name, "has no VHLO:", str(error).splitlines()[0][:100])


def write_portable(folder, name, data):
    (folder / f"{name}.vhlo.mlirbc").write_bytes(data)
    (folder / f"{name}.vhlo.short.mlir").write_bytes(reread(data))


def main():
    folder = pathlib.Path(sys.argv[1]) / f"jax-{jax.__version__}"
    folder.mkdir(parents=True, exist_ok=True)
    for name in sys.argv[2:] or PROGRAMS:
        try:
            made = PROGRAMS[name]()
        except Exception as error:  # noqa: BLE001 - this release can't make it
            print(jax.__version__, "makes no", name, str(error).splitlines()[0][:100])
            continue
        if isinstance(made, bytes):
            write_portable(folder, name, made)
            continue
        module = made.compiler_ir("stablehlo")
        with module.context:
            record(folder, name, module)


if __name__ == "__main__":
    main()  # not in the first column, which MLIR does not write into its bytecode
