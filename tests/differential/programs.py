"""Programs of every kind JAX makes: name → function that lowers one and returns its MLIR module.

Each family is a generator of (name, thunk); a thunk returns a jax Lowered, an ir.Module or text.
"""

import functools

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

FAMILIES = []


def family(f):
    FAMILIES.append(f)
    return f


def programs():
    seen = set()
    for f in FAMILIES:
        for name, thunk in f():
            full = f"{f.__name__}-{name}"
            assert full not in seen, full
            seen.add(full)
            yield full, thunk


def lower(f, *args, **jit):
    return lambda: jax.jit(f, **jit).lower(*args)


def S(*shape, dtype=jnp.float32):
    return jax.ShapeDtypeStruct(shape, dtype)


F32, BF16, F16, I32, U32, C64, BOOL = (
    jnp.float32, jnp.bfloat16, jnp.float16, jnp.int32, jnp.uint32, jnp.complex64, jnp.bool_)
FLOAT8 = [n for n in ("float8_e4m3fn", "float8_e5m2", "float8_e4m3b11fnuz", "float8_e4m3fnuz",
                      "float8_e5m2fnuz", "float8_e3m4", "float8_e4m3", "float8_e8m0fnu",
                      "float4_e2m1fn") if hasattr(jnp, n)]


@family
def unary():
    floats = ("abs acos acosh asin asinh atan atanh bessel_i0e bessel_i1e cbrt ceil cos cosh digamma erf "
              "erf_inv erfc exp exp2 expm1 floor integer_pow is_finite lgamma log log1p logistic neg "
              "reciprocal round rsqrt sign sin sinh sqrt square tan tanh").split()
    for op in floats:
        fn = getattr(lax, op)
        if op == "integer_pow":
            fn = functools.partial(fn, y=3)
        if op == "round":
            yield "round-even", lower(lambda x: lax.round(x, lax.RoundingMethod.TO_NEAREST_EVEN), S(3))
        yield op, lower(fn, S(4, 3))
    for op in "abs neg sign clz population_count bitwise_not".split():
        yield f"{op}-i32", lower(getattr(lax, op), S(5, dtype=I32))
    for op in "conj real imag abs exp log sqrt tanh sin".split():
        yield f"{op}-c64", lower(getattr(lax, op), S(2, 2, dtype=C64))
    for dtype in (BF16, F16):
        for op in ("exp", "tanh", "erf"):
            yield f"{op}-{jnp.dtype(dtype).name}", lower(getattr(lax, op), S(8, dtype=dtype))


@family
def binary():
    for op in ("add sub mul div rem max min pow atan2 nextafter complex eq ne lt le gt ge").split():
        yield op, lower(getattr(lax, op), S(3, 4), S(3, 4))
    for op in ("add sub mul div rem max min bitwise_and bitwise_or bitwise_xor shift_left "
               "shift_right_arithmetic shift_right_logical eq lt").split():
        yield f"{op}-i32", lower(getattr(lax, op), S(6, dtype=I32), S(6, dtype=I32))
        yield f"{op}-u32", lower(getattr(lax, op), S(6, dtype=U32), S(6, dtype=U32))
    for op in ("igamma", "igammac", "zeta", "polygamma"):
        yield op, lower(getattr(lax, op), S(4), S(4))
    yield "betainc", lower(lax.betainc, S(3), S(3), S(3))
    yield "clamp", lower(lambda x: lax.clamp(-1.0, x, 1.0), S(7))
    yield "select", lower(lambda p, a, b: jnp.where(p, a, b), S(4, dtype=BOOL), S(4), S(4))
    yield "select_n", lower(lambda p, *c: lax.select_n(p, *c), S(4, dtype=I32), S(4), S(4), S(4))
    yield "weak", lower(lambda x: 2 * x + 0.1, S(4))


@family
def dtypes():
    names = ["float32", "float16", "bfloat16", "int4", "uint4", "int8", "uint8", "int16", "uint16",
             "int32", "uint32", "bool", "complex64"] + FLOAT8
    names += [n for n in ("int2", "uint2") if hasattr(jnp, n)]
    for name in names:
        dtype = getattr(jnp, name if name != "bool" else "bool_")
        yield f"{name}-pass", lower(lambda x: (x, x.reshape(-1)), S(2, 3, dtype=dtype))
        yield f"{name}-convert", lower(lambda x, d=dtype: x.astype(d), S(4))
        yield f"{name}-back", lower(lambda x: x.astype(jnp.float32), S(4, dtype=dtype))
        values = np.array([0, 1, 1, 0] if name == "bool" else [0, 1, 1, 0.5]).astype(dtype)
        if name not in ("complex64",):
            yield f"{name}-constant", lower(lambda x, v=values: (x, jnp.asarray(v)), S(4))
    for name in ("int64", "float64", "complex128", "uint64"):
        def wide(name=name):
            with jax.enable_x64(True):
                dtype = getattr(jnp, name)
                return jax.jit(lambda x: x * x + dtype(3)).lower(S(2, 2, dtype=dtype))
        yield f"{name}-x64", wide


@family
def constants():
    rng = np.random.RandomState(0)
    cases = {
        "splat": np.full((3, 4), 2.5, np.float32),
        "one": np.array([7.25], np.float32),
        "small": rng.randn(3, 3).astype(np.float32),
        "awkward": np.array([0.1, 1 / 3, 1e-10, 1e10, 16777217, 123456.789, -0.0, 5e-324, 65504, 3e38],
                            np.float32),
        "special": np.array([np.inf, -np.inf, np.nan, 0], np.float32),
        "large": rng.randn(40, 50).astype(np.float32),
        "large-bool": rng.rand(40, 50) > 0.5,
        "small-bool": rng.rand(3, 5) > 0.5,
        "true": np.ones((17,), bool),
        "false": np.zeros((17,), bool),
        "ints": rng.randint(-1000, 1000, (5, 2)).astype(np.int32),
        "bytes": rng.randint(0, 255, (300,)).astype(np.uint8),
        "complex": (rng.randn(2, 3) + 1j * rng.randn(2, 3)).astype(np.complex64),
        "complex-large": (rng.randn(11, 13) + 1j * rng.randn(11, 13)).astype(np.complex64),
        "bf16": rng.randn(6).astype(jnp.bfloat16),
        "bf16-ties": np.array([1.015625, 1.0078125, 0.9921875, 3.0e-39], jnp.bfloat16),
        "f16": rng.randn(6).astype(np.float16),
        "f16-subnormal": np.array([6e-8, 1e-5, 65504], np.float16),
        "f8": rng.randn(6).astype(jnp.float8_e4m3fn),
        "empty": np.zeros((0, 3), np.float32),
        "huge": rng.randn(256, 1024).astype(np.float32),
    }
    for name, value in cases.items():
        yield name, lower(lambda x, v=value: (x + 1, jnp.asarray(v)), S(2))
    with jax.enable_x64(True):
        wide = np.array([0.1, 1 / 3, 1e300, -2.5e-310, 123456789.125, 1e16, 12345678901234567])
    def f64():
        with jax.enable_x64(True):
            return jax.jit(lambda x: x + wide).lower(S(7, dtype=jnp.float64))
    yield "f64", f64


@family
def shapes():
    yield "reshape", lower(lambda x: x.reshape(6, 2), S(3, 4))
    yield "transpose", lower(lambda x: jnp.transpose(x, (2, 0, 1)), S(2, 3, 4))
    yield "broadcast", lower(lambda x: jnp.broadcast_to(x, (5, 3)), S(3))
    yield "broadcast_in_dim", lower(lambda x: lax.broadcast_in_dim(x, (2, 3, 4), (1,)), S(3))
    yield "squeeze", lower(lambda x: jnp.squeeze(x, 1), S(3, 1, 2))
    yield "expand", lower(lambda x: x[:, None], S(3))
    yield "concatenate", lower(lambda x, y: jnp.concatenate([x, y], 1), S(2, 3), S(2, 4))
    yield "stack", lower(lambda *x: jnp.stack(x), S(2), S(2), S(2))
    yield "split", lower(lambda x: jnp.split(x, 3), S(9))
    yield "pad", lower(lambda x: lax.pad(x, 0.0, [(1, 2, 0), (0, -1, 3)]), S(3, 4))
    yield "rev", lower(lambda x: lax.rev(x, (0, 2)), S(2, 3, 4))
    yield "slice", lower(lambda x: x[1:7:2, ::-1], S(8, 3))
    yield "slice-static", lower(lambda x: lax.slice(x, (1, 0), (5, 3), (2, 1)), S(8, 3))
    yield "dynamic_slice", lower(lambda x, i: lax.dynamic_slice(x, (i, 0), (2, 3)), S(8, 3), S(dtype=I32))
    yield "dynamic_update_slice", lower(
        lambda x, u, i: lax.dynamic_update_slice(x, u, (i, 1)), S(8, 3), S(2, 2), S(dtype=I32))
    yield "tile", lower(lambda x: jnp.tile(x, (2, 3)), S(2, 2))
    yield "repeat", lower(lambda x: jnp.repeat(x, 3, axis=0), S(2, 2))
    yield "roll", lower(lambda x: jnp.roll(x, 2), S(7))
    yield "iota", lower(lambda x: x + jnp.arange(12.0).reshape(3, 4), S(3, 4))
    yield "eye", lower(lambda x: x + jnp.eye(4), S(4, 4))
    yield "tril", lower(jnp.tril, S(5, 5))
    yield "bitcast", lower(lambda x: lax.bitcast_convert_type(x, jnp.int32), S(4))
    yield "bitcast-narrow", lower(lambda x: lax.bitcast_convert_type(x, jnp.uint8), S(4))
    yield "reduce_precision", lower(lambda x: lax.reduce_precision(x, 5, 10), S(4))
    yield "scalar", lower(lambda x: x + 1, S())
    yield "zero-size", lower(lambda x: x * 2, S(0, 3))
    yield "rank8", lower(lambda x: x.sum((0, 3, 7)), S(1, 2, 1, 2, 1, 2, 1, 2))


@family
def reductions():
    for op in "sum prod max min all any argmax argmin mean var std logsumexp".split():
        fn = getattr(jax.nn if op == "logsumexp" else jnp, op)
        yield op, lower(functools.partial(fn, axis=1), S(4, 5))
        yield f"{op}-all", lower(fn, S(4, 5))
    for op in "cumsum cumprod cummax cummin cumlogsumexp".split():
        yield op, lower(functools.partial(getattr(lax, op), axis=1), S(3, 6))
        yield f"{op}-reverse", lower(functools.partial(getattr(lax, op), axis=0, reverse=True), S(3, 6))
    for op in "reduce_and reduce_or reduce_xor".split():
        yield op, lower(functools.partial(getattr(lax, op), axes=(0,)), S(4, 3, dtype=I32))
    yield "reduce-pair", lower(
        lambda x, y: lax.reduce((x, y), (0.0, 1.0), lambda a, b: (a[0] + b[0], a[1] * b[1]), (0,)),
        S(4, 3), S(4, 3))
    for op, init in (("add", 0.0), ("max", -jnp.inf), ("mul", 1.0)):
        yield f"window-{op}", lower(
            lambda x, op=op, init=init: lax.reduce_window(x, init, getattr(lax, op), (1, 2, 2, 1),
                                                          (1, 2, 2, 1), "SAME"), S(1, 8, 8, 3))
    yield "window-dilated", lower(
        lambda x: lax.reduce_window(x, 0.0, lax.add, (3,), (1,), [(1, 1)], (2,), (2,)), S(9))
    yield "sort", lower(jnp.sort, S(9))
    yield "argsort", lower(lambda x: jnp.argsort(x, axis=0), S(4, 3))
    yield "sort-multi", lower(lambda x, y: lax.sort((x, y), num_keys=2), S(7), S(7))
    yield "top_k", lower(lambda x: lax.top_k(x, 3), S(4, 9))
    yield "approx_max_k", lower(lambda x: lax.approx_max_k(x, 3), S(4, 64))
    yield "softmax", lower(jax.nn.softmax, S(4, 9))
    yield "max-pool-grad", lower(jax.grad(
        lambda x: lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID").sum()),
        S(1, 8, 8, 3))
    yield "histogram", lower(lambda x: jnp.histogram(x, bins=4), S(20))


@family
def linear_algebra():
    yield "dot", lower(jnp.dot, S(3, 4), S(4, 5))
    yield "vecdot", lower(jnp.dot, S(4), S(4))
    yield "matmul-batched", lower(jnp.matmul, S(2, 3, 4), S(2, 4, 5))
    yield "einsum", lower(lambda a, b: jnp.einsum("bhqd,bhkd->bhqk", a, b), S(2, 3, 4, 8), S(2, 3, 5, 8))
    for name, p in (("high", lax.Precision.HIGH), ("highest", lax.Precision.HIGHEST),
                    ("mixed", (lax.Precision.DEFAULT, lax.Precision.HIGHEST))):
        yield f"dot-{name}", lower(functools.partial(jnp.dot, precision=p), S(3, 4), S(4, 5))
    for name in "BF16_BF16_F32 BF16_BF16_F32_X3 F32_F32_F32".split():
        yield f"dot-{name}", lower(
            lambda a, b, n=name: lax.dot(a, b, precision=getattr(lax.DotAlgorithmPreset, n)), S(3, 4), S(4, 5))
    yield "dot-accumulate", lower(
        lambda a, b: lax.dot(a, b, preferred_element_type=jnp.float32), S(3, 4, dtype=BF16), S(4, 5, dtype=BF16))
    yield "dot-int8", lower(
        lambda a, b: lax.dot(a, b, preferred_element_type=jnp.int32), S(3, 4, dtype=jnp.int8), S(4, 5, dtype=jnp.int8))
    yield "ragged_dot", lower(lax.ragged_dot, S(8, 4), S(3, 4, 5), S(3, dtype=I32))
    for op in "cholesky lu qr eigh svd".split():
        yield op, lower(getattr(jnp.linalg if op in ("cholesky", "qr", "eigh", "svd") else jax.scipy.linalg, op), S(4, 4))
    yield "triangular_solve", lower(
        lambda a, b: jax.scipy.linalg.solve_triangular(a, b, lower=True, trans=1), S(4, 4), S(4, 2))
    yield "triangular_solve-c", lower(
        lambda a, b: lax.linalg.triangular_solve(a, b, left_side=True, conjugate_a=True, transpose_a=True),
        S(4, 4, dtype=C64), S(4, 2, dtype=C64))
    yield "inv", lower(jnp.linalg.inv, S(4, 4))
    yield "det", lower(jnp.linalg.det, S(4, 4))
    for op, shape, kind in (("fft", (8,), C64), ("ifft", (8,), C64), ("rfft", (8,), F32), ("irfft", (5,), C64)):
        yield op, lower(getattr(jnp.fft, op), S(*shape, dtype=kind))
    yield "fft2", lower(jnp.fft.fft2, S(4, 4, dtype=C64))
    for rank, dn in ((1, ("NWC", "WIO", "NWC")), (2, ("NHWC", "HWIO", "NHWC")), (2, ("NCHW", "OIHW", "NCHW")),
                     (3, ("NDHWC", "DHWIO", "NDHWC"))):
        spatial = (8,) * rank
        lhs = (2, *spatial, 4) if dn[0].endswith("C") else (2, 4, *spatial)
        rhs = (3,) * rank
        rhs = (*rhs, 4, 6) if dn[1].endswith("O") else (6, 4, *rhs)
        conv = lambda x, k, dn=dn, r=rank: lax.conv_general_dilated(x, k, (1,) * r, "SAME", dimension_numbers=dn)
        yield f"conv-{dn[0]}", lower(conv, S(*lhs), S(*rhs))
        yield f"conv-{dn[0]}-grad", lower(jax.grad(lambda x, k, c=conv: c(x, k).sum(), (0, 1)), S(*lhs), S(*rhs))
    yield "conv-strided", lower(
        lambda x, k: lax.conv_general_dilated(x, k, (2, 2), [(1, 2), (0, 0)], (1, 2), (2, 1), feature_group_count=2,
                                              precision=lax.Precision.HIGHEST),
        S(2, 4, 8, 8), S(6, 2, 3, 3))
    yield "conv-batch-group", lower(
        lambda x, k: lax.conv_general_dilated(x, k, (1,), "VALID", batch_group_count=2), S(4, 3, 8), S(6, 3, 3))
    yield "conv-transpose", lower(lambda x, k: lax.conv_transpose(x, k, (2, 2), "SAME"), S(1, 4, 4, 3), S(3, 3, 3, 5))


@family
def indexing():
    x, i = S(10, 4), S(5, dtype=I32)
    for mode in ("clip", "fill", "promise_in_bounds"):
        yield f"take-{mode}", lower(lambda x, i, m=mode: x.at[i].get(mode=m), x, i)
    for op in ("set", "add", "multiply", "min", "max", "divide", "power"):
        yield f"at-{op}", lower(lambda x, i, u, op=op: getattr(x.at[i], op)(u), x, i, S(5, 4))
    yield "at-apply", lower(lambda x, i: x.at[i].apply(jnp.sin), x, i)
    yield "at-unique", lower(lambda x, i, u: x.at[i].add(u, unique_indices=True, indices_are_sorted=True), x, i, S(5, 4))
    yield "gather-2d", lower(lambda x, i, j: x[i, j], x, i, i)
    yield "gather-mixed", lower(lambda x, i: x[i, 1:3], x, i)
    yield "gather-batched", lower(jax.vmap(lambda x, i: x[i]), S(3, 10, 4), S(3, 5, dtype=I32))
    yield "scatter-batched", lower(jax.vmap(lambda x, i, u: x.at[i].add(u)), S(3, 10), S(3, 5, dtype=I32), S(3, 5))
    yield "take_along_axis", lower(lambda x, i: jnp.take_along_axis(x, i, 1), x, S(10, 2, dtype=I32))
    yield "gather-grad", lower(jax.grad(lambda x, i: x[i].sum()), x, i)
    yield "embedding-grad", lower(jax.grad(lambda t, i: (t[i] ** 2).sum()), S(100, 8), S(4, 7, dtype=I32))
    yield "where-size", lower(lambda x: jnp.nonzero(x, size=4), S(9))
    yield "searchsorted", lower(jnp.searchsorted, S(16), S(3))
    yield "segment_sum", lower(lambda x, i: jax.ops.segment_sum(x, i, 4), S(10), S(10, dtype=I32))
    yield "one_hot", lower(lambda i: jax.nn.one_hot(i, 7), i)
    yield "dynamic-index", lower(lambda x, i: lax.dynamic_index_in_dim(x, i, 0), x, S(dtype=I32))


@family
def control_flow():
    x = S(4)
    yield "cond", lower(lambda p, x: lax.cond(p, jnp.sin, jnp.cos, x), S(dtype=BOOL), x)
    yield "switch", lower(lambda i, x: lax.switch(i, [jnp.sin, jnp.cos, lambda v: v * 2], x), S(dtype=I32), x)
    yield "while", lower(lambda x: lax.while_loop(lambda v: v.sum() < 100, lambda v: v * 2, x), x)
    yield "while-tuple", lower(
        lambda x: lax.while_loop(lambda s: s[0] < 5, lambda s: (s[0] + 1, s[1] * 2.0), (0, x)), x)
    yield "fori", lower(lambda x: lax.fori_loop(0, 5, lambda i, v: v + i, x), x)
    yield "fori-dynamic", lower(lambda n, x: lax.fori_loop(0, n, lambda i, v: v * 2, x), S(dtype=I32), x)
    yield "scan", lower(lambda x: lax.scan(lambda c, v: (c + v, c * v), 0.0, x), x)
    yield "scan-reverse", lower(lambda x: lax.scan(lambda c, v: (c + v, c), 0.0, x, reverse=True), x)
    yield "scan-grad", lower(jax.grad(lambda x: lax.scan(lambda c, v: (jnp.sin(c + v), c), 0.0, x)[0]), x)
    yield "scan-unroll", lower(lambda x: lax.scan(lambda c, v: (c + v, c), 0.0, x, unroll=2), x)
    yield "map", lower(lambda x: lax.map(jnp.sin, x), x)
    yield "associative_scan", lower(lambda x: lax.associative_scan(jnp.add, x), x)
    yield "cond-grad", lower(jax.grad(lambda x, p: lax.cond(p, jnp.sum, lambda v: (v**2).sum(), x)), x, S(dtype=BOOL))
    yield "nested", lower(
        lambda x, p: lax.cond(p, lambda v: lax.fori_loop(0, 3, lambda i, c: jnp.where(c > i, c, -c), v), lambda v: v, x),
        x, S(dtype=BOOL))
    yield "nested-jit", lower(lambda x: jax.jit(jnp.sin)(x) + jax.jit(jnp.sin)(x * 2), x)
    yield "remat", lower(jax.grad(jax.checkpoint(lambda x: jnp.sin(jnp.sin(x)).sum())), x)
    yield "custom_vjp", lower(jax.grad(lambda x: jax.nn.relu(x).sum()), x)
    yield "custom_jvp", lower(lambda x: jax.jvp(jax.nn.silu, (x,), (x,)), x)
    yield "vmap-while", lower(jax.vmap(lambda x: lax.while_loop(lambda v: v < 10, lambda v: v * 2, x)), x)
    yield "optimization_barrier", lower(lambda x: lax.optimization_barrier((x, x + 1)), x)
    yield "platform_dependent", lower(
        lambda x: lax.platform_dependent(x, cpu=jnp.sin, default=jnp.cos), x)
    yield "hessian", lower(jax.hessian(lambda x: (jnp.tanh(x) ** 3).sum()), x)
    yield "named_scope", lower(lambda x: jax.named_scope("outer/\"quoted\" ünï\ncode")(jnp.sin)(x), x)


@family
def random_and_calls():
    key = jax.random.key(0)
    for op in "bits uniform normal randint bernoulli gamma permutation categorical".split():
        def f(k, op=op):
            fn = getattr(jax.random, op)
            if op == "randint":
                return fn(k, (4,), 0, 9)
            if op == "gamma":
                return fn(k, 2.0, (4,))
            if op == "permutation":
                return fn(k, 8)
            if op == "categorical":
                return fn(k, jnp.zeros((3, 4)))
            return fn(k, shape=(4,))
        yield op, lower(f, key)
    for impl in ("rbg", "unsafe_rbg"):
        yield impl, lower(lambda k: jax.random.uniform(k, (4,)), jax.random.key(0, impl=impl))
    yield "rng_bit_generator", lower(
        lambda k: lax.rng_bit_generator(k, (3,), algorithm=lax.RandomAlgorithm.RNG_PHILOX), S(4, dtype=U32))
    yield "rng_uniform", lower(lambda a, b: lax.rng_uniform(a, b, (3,)), S(), S())
    yield "pure_callback", lower(lambda x: jax.pure_callback(np.sin, S(4), x), S(4))
    yield "io_callback", lower(
        lambda x: jax.experimental.io_callback(lambda v: np.asarray(v), S(4), x, ordered=True), S(4))
    def debug(x):
        jax.debug.print("x = {}", x)
        return x + 1
    yield "debug_print", lower(debug, S(4))
    yield "ffi_call", lower(
        lambda x: jax.ffi.ffi_call("my.target", S(4), has_side_effect=True)(x, eps=np.float32(0.5), n=3, s="a\"b"), S(4))
    yield "ffi_call-alias", lower(
        lambda x: jax.ffi.ffi_call("t", S(4), input_output_aliases={0: 0})(x), S(4))
    yield "ffi_call-layout", lower(
        lambda x: jax.ffi.ffi_call("t", S(4, 3), input_layouts=[(0, 1)], output_layouts=(1, 0))(x), S(4, 3))
    yield "donate", lower(lambda x, y: (x + y, x * y), S(4), S(4), donate_argnums=(0,))
    yield "donate-unused", lower(lambda x, y: y.astype(jnp.int32), S(4), S(4), donate_argnums=(0, 1))
    yield "static", lower(lambda x, n: x * n, S(4), 3, static_argnums=1)
    yield "keep_unused", lower(lambda x, y: x, S(4), S(4), keep_unused=True)
    yield "dict-arguments", lower(lambda d: {"out": d["a"] + d["b"]["c"]}, {"a": S(4), "b": {"c": S(4)}})


def mesh(*names, shape=None):
    devices = np.array(jax.devices()[:8]).reshape(shape or ((8,) if len(names) == 1 else (4, 2)))
    return jax.sharding.Mesh(devices, names)


def partitioned(shardy, make):
    def thunk():
        before = jax.config.jax_use_shardy_partitioner
        jax.config.update("jax_use_shardy_partitioner", shardy)
        try:
            return make()
        finally:
            jax.config.update("jax_use_shardy_partitioner", before)
    return thunk


@family
def sharding():
    from jax.sharding import NamedSharding, PartitionSpec as P
    shard_map = jax.shard_map

    def jit_specs(f, m, ins, outs, *args, **kw):
        return jax.jit(f, in_shardings=tuple(NamedSharding(m, s) for s in ins),
                       out_shardings=NamedSharding(m, outs), **kw).lower(*args)

    cases = {
        "data": lambda: jit_specs(lambda x, w: x @ w, mesh("d"), (P("d"), P()), P("d"), S(16, 8), S(8, 4)),
        "model": lambda: jit_specs(lambda x, w: x @ w, mesh("d", "m"), (P("d"), P(None, "m")), P("d", "m"), S(16, 8), S(8, 4)),
        "joint": lambda: jit_specs(lambda x: x * 2, mesh("d", "m"), (P(("d", "m")),), P(None), S(16, 8)),
        "donated": lambda: jit_specs(lambda x: x * 2, mesh("d"), (P("d"),), P("d"), S(16, 8), donate_argnums=0),
        "constraint": lambda: jit_specs(
            lambda x: jax.lax.with_sharding_constraint(jnp.sin(x), NamedSharding(mesh("d", "m"), P("m", "d"))) + 1,
            mesh("d", "m"), (P("d"),), P(), S(16, 8)),
        "unconstrained": lambda: jit_specs(
            lambda x: jax.lax.with_sharding_constraint(x, NamedSharding(mesh("d", "m"), P("d", P.UNCONSTRAINED))) + 1,
            mesh("d", "m"), (P("d"),), P(), S(16, 8)),
        "abstract-size-1": lambda: jit_specs(lambda x: x + 1, mesh("d", "m", shape=(8, 1)), (P("m", "d"),), P(), S(16, 8)),
        "scan": lambda: jit_specs(
            lambda x: lax.scan(lambda c, v: (c + v, c), jnp.zeros(8), x), mesh("d"), (P("d"),), P(), S(16, 8)),
        "memory-kind": lambda: jax.jit(lambda x: x + 1, in_shardings=NamedSharding(
            mesh("d"), P("d"), memory_kind="unpinned_host")).lower(S(16)),
    }
    for name, body in {
        "psum": lambda x: lax.psum(x, "d"),
        "pmean-both": lambda x: lax.pmean(x, ("d", "m")),
        "pmax": lambda x: lax.pmax(x, "d"),
        "all_gather": lambda x: lax.all_gather(x, "d", tiled=True),
        "psum_scatter": lambda x: lax.psum_scatter(x, "d", tiled=True),
        "all_to_all": lambda x: lax.all_to_all(x, "d", 1, 0, tiled=True),
        "ppermute": lambda x: lax.ppermute(x, "d", [(i, (i + 1) % 4) for i in range(4)]),
        "axis_index": lambda x: x + lax.axis_index("d"),
    }.items():
        cases[f"shard_map-{name}"] = lambda body=body: jax.jit(shard_map(
            body, mesh=mesh("d", "m"), in_specs=P("d", None), out_specs=P("d", None), check_vma=False)).lower(S(16, 8))
    cases["shard_map-vma"] = lambda: jax.jit(shard_map(
        lambda x, w: lax.psum(x @ w, "m"), mesh=mesh("d", "m"), in_specs=(P("d", "m"), P("m")), out_specs=P("d"))).lower(
            S(16, 8), S(8, 4))
    cases["shard_map-partial"] = lambda: jax.jit(shard_map(
        lambda x: lax.psum(x, "d"), mesh=mesh("d", "m"), in_specs=P("d"), out_specs=P(), axis_names={"d"})).lower(S(16, 8))
    for name, make in cases.items():
        for shardy in (True, False):
            yield f"{name}-{'shardy' if shardy else 'gspmd'}", partitioned(shardy, make)


@family
def exported():
    from jax import export

    def symbolic(f, *specs, **kw):
        def thunk():
            scope = export.SymbolicScope()
            args = [jax.ShapeDtypeStruct(export.symbolic_shape(s, scope=scope), d) for s, d in specs]
            return export.export(jax.jit(f), **kw)(*args).mlir_module_serialized
        return thunk

    yield "batch", symbolic(lambda x: jnp.sin(x) + 1, ("b, 4", F32))
    yield "matmul", symbolic(lambda x, w: x @ w, ("b, k", F32), ("k, 3", F32))
    yield "reshape", symbolic(lambda x: x.reshape(-1, 2), ("b, 4", F32))
    yield "softmax", symbolic(lambda x: jax.nn.softmax(x, -1), ("b, s", F32))
    yield "concat", symbolic(lambda x, y: jnp.concatenate([x, y]), ("a, 4", F32), ("b, 4", F32))
    yield "slice", symbolic(lambda x: x[1:], ("b, 4", F32))
    yield "pad", symbolic(lambda x: jnp.pad(x, ((0, x.shape[0]), (1, 1))), ("b, 4", F32))
    yield "iota", symbolic(lambda x: x + jnp.arange(x.shape[0]), ("b", F32))
    yield "gather", symbolic(lambda x, i: x[i], ("b, 4", F32), ("n", I32))
    yield "conv", symbolic(lambda x, k: lax.conv_general_dilated(x, k, (1,), "SAME"), ("b, 3, w", F32), ("6, 3, 3", F32))
    yield "dim", symbolic(lambda x: x.sum() / x.shape[0], ("b, 4", F32))
    yield "scan", symbolic(lambda x: lax.scan(lambda c, v: (c + v, c), jnp.zeros(4), x), ("b, 4", F32))
    yield "multi-platform", symbolic(lambda x: jnp.sin(x), ("b", F32), platforms=("cpu", "tpu"))
    yield "grad", symbolic(jax.grad(lambda w, x: jnp.tanh(x @ w).sum()), ("4, 3", F32), ("b, 4", F32))


@family
def pallas():
    from jax.experimental import pallas as pl

    def tpu(f, *args):
        return lambda: jax.jit(f).trace(*args).lower(lowering_platforms=("tpu",))

    def add(x_ref, y_ref, o_ref):
        o_ref[...] = x_ref[...] + y_ref[...]

    def matmul(x_ref, y_ref, o_ref):
        o_ref[...] = jnp.dot(x_ref[...], y_ref[...], preferred_element_type=jnp.float32)

    yield "add", tpu(lambda x, y: pl.pallas_call(add, out_shape=S(8, 128))(x, y), S(8, 128), S(8, 128))
    yield "grid", tpu(lambda x, y: pl.pallas_call(
        add, out_shape=S(32, 128), grid=(4,), in_specs=[pl.BlockSpec((8, 128), lambda i: (i, 0))] * 2,
        out_specs=pl.BlockSpec((8, 128), lambda i: (i, 0)))(x, y), S(32, 128), S(32, 128))
    yield "matmul", tpu(lambda x, y: pl.pallas_call(
        matmul, out_shape=S(128, 128), grid=(1,), in_specs=[pl.BlockSpec((128, 128), lambda i: (0, 0))] * 2,
        out_specs=pl.BlockSpec((128, 128), lambda i: (0, 0)))(x, y), S(128, 128), S(128, 128))
    yield "in-step", tpu(jax.jit(lambda x, y: jnp.sin(pl.pallas_call(add, out_shape=S(8, 128))(x, y)) * 2), S(8, 128), S(8, 128))


@family
def other_platforms():
    def on(platform, f, *args):
        return lambda: jax.jit(f).trace(*args).lower(lowering_platforms=(platform,))
    for platform in ("tpu", "cuda"):
        for name, f in (("softmax", jax.nn.softmax), ("sort", jnp.sort), ("erf_inv", lax.erf_inv)):
            yield f"{platform}-{name}", on(platform, f, S(8, 16))
    yield "tpu-eigh", on("tpu", jnp.linalg.eigh, S(4, 4))
    yield "tpu-topk", on("tpu", lambda x: lax.top_k(x, 3), S(4, 64))
    yield "tpu-approx", on("tpu", lambda x: lax.approx_min_k(x, 3), S(4, 64))


def transformer(layers, d, heads, vocab):
    def init():
        p = {"embed": S(vocab, d), "out": S(d, vocab)}
        for i in range(layers):
            p[f"layer{i}"] = {"qkv": S(d, 3 * d), "proj": S(d, d), "up": S(d, 4 * d), "down": S(4 * d, d),
                              "norm": S(d)}
        return p

    def forward(p, tokens):
        x = p["embed"][tokens]
        b, s, _ = x.shape
        for i in range(layers):
            q = p[f"layer{i}"]
            h = x * lax.rsqrt((x * x).mean(-1, keepdims=True) + 1e-6) * q["norm"]
            qkv = (h @ q["qkv"]).reshape(b, s, 3, heads, d // heads)
            a = jnp.einsum("bqhd,bkhd->bhqk", qkv[:, :, 0], qkv[:, :, 1]) / np.sqrt(d // heads)
            a = jnp.where(jnp.tril(jnp.ones((s, s), bool)), a, -1e9)
            h = jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(a), qkv[:, :, 2]).reshape(b, s, d)
            x = x + h @ q["proj"]
            x = x + jax.nn.gelu(x @ q["up"]) @ q["down"]
        return x @ p["out"]

    def loss(p, tokens):
        logits = jax.nn.log_softmax(forward(p, tokens[:, :-1]))
        return -jnp.take_along_axis(logits, tokens[:, 1:, None], -1).mean()

    def step(p, m, tokens):
        value, g = jax.value_and_grad(loss)(p, tokens)
        m = jax.tree.map(lambda m, g: 0.9 * m + g, m, g)
        return jax.tree.map(lambda p, m: p - 1e-3 * m, p, m), m, value

    return init(), step, forward


@family
def models():
    for name, (layers, d, heads) in {"tiny": (1, 32, 2), "small": (2, 64, 4), "deep": (6, 32, 2)}.items():
        p, step, forward = transformer(layers, d, heads, 97)
        yield f"{name}-step", lower(step, p, p, S(4, 17, dtype=I32), donate_argnums=(0, 1))
        yield f"{name}-forward", lower(forward, p, S(4, 16, dtype=I32))

    def mlp(p, x):
        for w, b in p:
            x = jax.nn.relu(x @ w + b)
        return x
    p = [(S(8, 8), S(8))] * 3
    yield "mlp-grad", lower(jax.grad(lambda p, x: mlp(p, x).sum()), p, S(4, 8))
    yield "mlp-vmap", lower(jax.vmap(mlp, (None, 0)), p, S(5, 4, 8))


def training(loss, optimizer):
    """One step of any optax optimizer; its state starts from the parameters' shapes."""
    import optax

    def step(p, state, x, y):
        value, g = jax.value_and_grad(loss)(p, x, y)
        updates, state = optimizer.update(g, state, p)
        return optax.apply_updates(p, updates), state, value
    return step


@family
def libraries():
    """What people train with: Flax, Equinox and Optax."""
    import equinox as eqx
    import flax.linen as nn
    import optax

    class Net(nn.Module):
        @nn.compact
        def __call__(self, x):
            x = nn.relu(nn.Conv(8, (3, 3))(x))
            x = nn.LayerNorm()(nn.avg_pool(x, (2, 2), (2, 2)).reshape(x.shape[0], -1))
            return nn.Dense(10)(nn.Dropout(0.1, deterministic=True)(x))

    key, image, labels = jax.random.key(0), S(4, 8, 8, 3), S(4, dtype=I32)
    p = jax.eval_shape(Net().init, key, image)

    def flax_loss(p, x, y):
        return optax.softmax_cross_entropy_with_integer_labels(Net().apply(p, x), y).mean()
    for name, optimizer in {
            "adamw": optax.adamw(optax.cosine_decay_schedule(1e-3, 100)),
            "clipped-lion": optax.chain(optax.clip_by_global_norm(1.0), optax.lion(1e-4)),
            "sgd-every-two": optax.MultiSteps(optax.sgd(0.1, momentum=0.9, nesterov=True), 2)}.items():
        state = jax.eval_shape(optimizer.init, p)
        yield f"flax-{name}", lower(training(flax_loss, optimizer), p, state, image, labels, donate_argnums=(0, 1))
    yield "flax-init", lower(lambda x: Net().init(jax.random.key(1), x), image)

    net, rest = eqx.partition(eqx.nn.MLP(8, 4, 16, 2, key=key), eqx.is_array)

    def eqx_loss(p, x, y):
        return jnp.mean((jax.vmap(eqx.combine(p, rest))(x) - y) ** 2)
    optimizer = optax.adam(1e-3)
    yield "equinox-adam", lower(training(eqx_loss, optimizer), net, optimizer.init(net), S(5, 8), S(5, 4))
    cell = eqx.nn.GRUCell(4, 8, key=key)
    yield "equinox-gru", lower(lambda xs: lax.scan(lambda h, x: (cell(x, h), h), jnp.zeros(8), xs), S(6, 4))
