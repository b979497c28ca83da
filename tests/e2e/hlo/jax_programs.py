"""Programs of JAX for the differential test of the HLO readers.

Usage: jax_programs.py FOLDER: writes NAME.pb (HloModuleProto), NAME.short.txt, NAME.long.txt and NAME.also.txt (XLA's
own texts of it) for each program below, before and (NAME.opt) after XLA's CPU passes."""

import os
import sys
import zlib

os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ.setdefault("XLA_FLAGS", "--xla_force_host_platform_device_count=8")

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import NamedSharding, PartitionSpec as P
from jaxlib import _hlo

PROGRAMS = {}
DTYPES = [np.dtype(d) for d in ("float32 float64 int8 int16 int32 int64 uint8 uint16 uint32 uint64 "
                                "bool complex64 complex128 float16").split()]
DTYPES += [np.dtype(d) for d in (jnp.bfloat16, jnp.float8_e4m3fn, jnp.float8_e5m2,
                                 jnp.float8_e4m3b11fnuz, jnp.float8_e4m3fnuz, jnp.float8_e5m2fnuz,
                                 jnp.int4, jnp.uint4, jnp.int2, jnp.float8_e3m4, jnp.float8_e4m3,
                                 jnp.float8_e8m0fnu, jnp.float4_e2m1fn)]
jax.config.update("jax_enable_x64", True)


def s(*shape, dtype=jnp.float32):
    return jax.ShapeDtypeStruct(shape, dtype)


def program(*args, **options):
    def add(fn):
        PROGRAMS[fn.__name__] = (fn, args, options)
        return fn
    return add


def one(name, fn, *args, **options):
    PROGRAMS[name] = (fn, args, options)


for n in ("abs ceil floor exp expm1 log log1p sqrt rsqrt cbrt sin cos tan tanh sign neg erf erfc "
          "erf_inv lgamma digamma logistic is_finite asin acos atan sinh cosh asinh acosh "
          "atanh").split():
    one("lax_" + n, getattr(lax, n), s(3, 4))
for n in "add sub mul div pow max min atan2 rem nextafter eq ne lt le gt ge".split():
    one("lax_" + n, getattr(lax, n), s(3, 4), s(3, 4))
for n in "bitwise_and bitwise_or bitwise_xor shift_left shift_right_logical shift_right_arithmetic".split():
    one("lax_" + n, getattr(lax, n), s(4, dtype=jnp.int32), s(4, dtype=jnp.int32))
for n in "bitwise_not population_count clz".split():
    one("lax_" + n, getattr(lax, n), s(4, dtype=jnp.uint32))
for n in "sum prod max min any all argmax argmin cumsum cumprod sort argsort median var".split():
    one("np_" + n, (lambda f: lambda x: f(x, axis=1))(getattr(jnp, n)), s(3, 5))


def values(d):
    if d.kind == "b":
        return np.array([[True, False, True], [False, False, True]])
    if d.kind == "c":
        return (np.array([[1.5 - 2j, np.inf * 1j, 0], [-0.0, 3e-30 + 1j, 1 / 3]])).astype(d)
    if np.issubdtype(d, np.integer) or d.name in ("int4", "uint4", "int2", "uint2"):
        info = jnp.iinfo(d)
        return np.array([[int(info.min), int(info.max), 1], [0, 1, int(info.min) // 2]]).astype(d)
    f = np.array([[1.0, 2.0, 0.5], [4.0, 1.0, 2.0]]) if d.name.startswith(("float8_e8", "float4")) \
        else np.array([[1 / 3, -2.5, 1e-3], [0.1, -0.0, 3.14159265358979]])
    if d in (np.float32, np.float64, np.float16, jnp.bfloat16):
        f[1, 1] = np.nan
        f[0, 1] = -np.inf
    return f.astype(d)


for d in DTYPES:
    def const(x, d=d):
        return jnp.asarray(values(d)), lax.full((2, 2), values(d)[0, 0], d), x
    one("constant_" + d.name, const, s(2))
    one("convert_" + d.name, lambda x, d=d: x.astype(d), s(2, 3))

big = np.arange(4096, dtype=np.float32).reshape(64, 64)
one("constant_big", lambda x: x + big + big.astype(np.int32), s(64, 64))
one("constant_rank5", lambda x: x + np.arange(48, dtype=np.float32).reshape(2, 1, 3, 2, 4),
    s(2, 1, 3, 2, 4))
one("constant_empty", lambda x: (x, jnp.zeros((0, 3)), jnp.zeros((2, 0))), s(2))


@program(s(4, 8), s(8, 3), s(3))
def mlp_grad(x, w, b):
    return jax.grad(lambda w: jnp.tanh(x @ w + b).sum())(w)


@program(s(10), s())
def while_loop(x, n):
    return lax.while_loop(lambda c: c[0] < 5, lambda c: (c[0] + 1, c[1] * n), (0, x))


@program(s(10), s(3, 10))
def scan(c, xs):
    return lax.scan(lambda c, x: (c + x, c.sum()), c, xs)


@program(s(), s(4))
def cond(p, x):
    return lax.cond(p > 0, jnp.sin, jnp.cos, x)


@program(s(dtype=jnp.int32), s(4))
def switch(i, x):
    return lax.switch(i, [jnp.sin, jnp.cos, jnp.tan], x)


@program(s(4, 4), s(4, 2))
def linalg(a, b):
    spd = a @ a.T + jnp.eye(4, dtype=a.dtype)
    return (jnp.linalg.cholesky(spd), lax.linalg.triangular_solve(spd, b, left_side=True),
            jnp.linalg.qr(a), jnp.linalg.svd(a), jnp.linalg.eigh(spd))


@program(s(5, 6), s(3, 2, dtype=jnp.int32))
def gathers(x, i):
    return x[i[:, 0]], x[i[:, 0], i[:, 1]], jnp.take_along_axis(x, jnp.zeros((2, 6), jnp.int32), 0), x.at[i[:, 0]].add(1.0), \
        x.at[i[:, 0], i[:, 1]].max(2.0, unique_indices=True, indices_are_sorted=True)


@program(s(2, 6, 4), s(2, 3, dtype=jnp.int32))
def gather_batched(x, i):
    return jax.vmap(lambda x, i: x[i])(x, i), jax.vmap(lambda x, i: x.at[i].set(0.0))(x, i)


@program(s(8, 9), s(dtype=jnp.int32))
def slices(x, i):
    return (x[2:6, ::3], lax.dynamic_slice(x, (i, i), (2, 3)), x[::-1],
            lax.dynamic_update_slice(x, x[:2, :2], (i, i)), jnp.roll(x, 2, 1),
            lax.pad(x, jnp.float32(0), ((1, 2, 1), (-1, 0, 0))))


@program(s(2, 8, 8, 3), s(3, 3, 3, 4))
def conv(x, w):
    f = lambda x, w: lax.conv_general_dilated(x, w, (2, 1), "SAME", rhs_dilation=(1, 2),
                                              dimension_numbers=("NHWC", "HWIO", "NHWC"),
                                              precision=lax.Precision.HIGHEST)
    return f(x, w), jax.grad(lambda x, w: f(x, w).sum(), (0, 1))(x, w)


@program(s(2, 8, 8, 4), s(3, 3, 2, 8))
def conv_groups(x, w):
    return lax.conv_general_dilated(x, w, (1, 1), ((1, 1), (0, 2)), feature_group_count=2,
                                    dimension_numbers=("NHWC", "HWIO", "NHWC"))


@program(s(2, 8, 8, 3))
def pools(x):
    f = lambda x: lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "SAME")
    return f(x), jax.grad(lambda x: f(x).sum())(x), lax.reduce_window(
        x, 0.0, lax.add, (1, 3, 3, 1), (1, 1, 1, 1), ((0, 0), (1, 0), (2, 1), (0, 0)),
        window_dilation=(1, 2, 1, 1))


@program(s(3, 4, 5), s(3, 5, 6))
def dots(a, b):
    return (lax.dot_general(a, b, (((2,), (1,)), ((0,), (0,)))),
            lax.dot_general(a, b, (((2,), (1,)), ((0,), (0,))), precision=lax.Precision.HIGH,
                            preferred_element_type=jnp.float64),
            lax.dot(a[0], b[0], precision=lax.DotAlgorithmPreset.BF16_BF16_F32_X3))


@program(s(6, 7))
def sorts(x):
    return lax.sort((x, x + 1, -x), num_keys=2), lax.top_k(x, 3), jnp.argsort(x, stable=False)


@program(s(2, 3, 4))
def shapes(x):
    return (jnp.transpose(x, (2, 0, 1)), x.reshape(6, 4), jnp.concatenate([x, x], 1),
            lax.broadcast_in_dim(x, (5, 2, 3, 4), (1, 2, 3)), lax.iota(jnp.int32, 7),
            lax.broadcasted_iota(jnp.float32, (3, 4), 1), lax.rev(x, (0, 2)),
            lax.reduce_precision(x, 5, 10), lax.clamp(jnp.float32(0), x, jnp.float32(1)), lax.select(x > 0, x, -x),
            lax.bitcast_convert_type(x, jnp.int32), lax.expand_dims(x, (0,)))


@program(s(4, 8), s(8, dtype=jnp.complex64))
def ffts(x, c):
    return jnp.fft.rfft(x), jnp.fft.ifft(c), jnp.fft.fft2(x), jnp.fft.irfft(c), jnp.real(c), c.imag


@program(s(2, dtype=jnp.uint32))
def random(k):
    return (jax.random.normal(k, (3,)), jax.random.uniform(k, (2, 2)),
            lax.rng_bit_generator(jnp.concatenate([k, k]), (4,), dtype=jnp.uint32),
            lax.rng_uniform(0.0, 1.0, (3,)))


@program(s(4), s(4, 4))
def custom_calls(x, y):
    return jax.ffi.ffi_call("my_target", s(4), has_side_effect=True)(
        x, alpha=1.5, name='q"uote\n'), jax.checkpoint(jnp.sin)(x), lax.optimization_barrier((x, y))


@program(s(8, 4), s(4, 8), donate_argnums=(0,))
def donation(x, y):
    return x + 1, y.T


def mesh():
    return jax.make_mesh((4, 2), ("x", "y"), axis_types=(jax.sharding.AxisType.Auto,) * 2)


def sharded(fn, specs, out, *args):
    m = mesh()
    return fn, args, dict(in_shardings=[NamedSharding(m, p) for p in specs],
                          out_shardings=NamedSharding(m, out))


PROGRAMS["sharding_named"] = sharded(lambda x, y: x @ y, [P("x", None), P(None, "y")], P("x", "y"),
                                     s(8, 8), s(8, 8))
PROGRAMS["sharding_partial"] = sharded(lambda x: (x * 2).sum(0), [P(("x", "y"))], P(), s(8, 8))


def collectives():
    def body(x):
        return (lax.psum(x, "x"), lax.pmax(x, ("x", "y")), lax.all_gather(x, "y"),
                lax.ppermute(x, "x", [(0, 1), (1, 2)]), lax.psum_scatter(x, "y", tiled=True),
                lax.all_to_all(x, "y", 0, 1, tiled=True), x * lax.axis_index("x"))
    m = mesh()
    spec = P("x", "y")
    out = (P(None, "y"), P(), P(None, "x", None), spec, P("x", "y"), P("x", "y"), spec)
    return jax.shard_map(body, mesh=m, in_specs=spec, out_specs=out, check_vma=False)


PROGRAMS["collectives"] = (lambda x: collectives()(x), (s(16, 16),),
                           dict(in_shardings=NamedSharding(mesh(), P("x", "y"))))


# The printer's other ways, one a program.
ALSO = [
    {"print_metadata": False, "print_operand_shape": True},
    {"print_percent": False, "print_program_shape": False},
    {"canonicalize_instruction_names": True, "print_control_dependencies": True},
    {"canonicalize_computations": True, "indent_amount": 2},
]


def also(name):
    options = _hlo.HloPrintOptions()
    options.print_large_constants = True
    for key, value in ALSO[zlib.crc32(name.encode()) % len(ALSO)].items():
        setattr(options, key, value)
    return options


def save(folder, name, proto):
    # printed from the proto, as it was read back: the configuration is not part of it
    module = _hlo.HloModule.from_serialized_hlo_module_proto(proto)
    long = _hlo.HloPrintOptions()
    long.print_large_constants = True
    short = _hlo.HloPrintOptions.short_parsable()
    short.print_large_constants = True
    with open(f"{folder}/{name}.pb", "wb") as f:
        f.write(proto)
    for style, options in (("long", long), ("short", short), ("also", also(name))):
        with open(f"{folder}/{name}.{style}.txt", "w") as f:
            f.write(module.to_string(options))


def main():
    folder = sys.argv[1]
    os.makedirs(folder, exist_ok=True)
    made, failed = 0, []
    for name, (fn, args, options) in PROGRAMS.items():
        try:
            lowered = jax.jit(fn, **options).trace(*args).lower()
            computation = lowered.compiler_ir("hlo")
            save(folder, name, computation.as_serialized_hlo_module_proto())
            made += 1
            if name.startswith(("custom", "constant_f", "constant_i", "constant_u", "lax_nextafter")):
                continue
            module = lowered.compile().runtime_executable().hlo_modules()[0]
            save(folder, name + ".opt", module.as_serialized_hlo_module_proto())
            made += 1
        except Exception as error:
            failed.append(name)
            print(f"{name}: {type(error).__name__}: {str(error)[:300]}", file=sys.stderr)
    print(f"{made} programs, {len(failed)} not made: {' '.join(failed)}")


main()
