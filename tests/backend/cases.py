"""Programs over the op families of the CPU backend: CASES is a list of (name, function, arguments)."""
import functools

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax._src.lax import windowed_reductions # select_and_scatter by itself has no public name

CASES = []
RNG = np.random.default_rng(7)

FLOATS = [jnp.bfloat16, np.float16, np.float32, np.float64]
SIGNED = [np.int8, np.int16, np.int32, np.int64]
UNSIGNED = [np.uint8, np.uint16, np.uint32, np.uint64]
COMPLEX = [np.complex64, np.complex128]
ALL = [np.bool_] + SIGNED + UNSIGNED + FLOATS + COMPLEX


def case(name, f, *args):
    CASES.append((name, f, args))


def values(shape, dtype, low=-3, high=3):
    """Random ones, with edge values in front where the type has any."""
    dtype = np.dtype(dtype)
    n = int(np.prod(shape))
    if dtype == np.bool_:
        return RNG.integers(0, 2, shape).astype(np.bool_)
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        v = RNG.integers(max(info.min, -100), min(info.max, 100), n, endpoint=True).astype(dtype)
        edges = np.array([info.min, info.max, 0, 1, info.max - 1], dtype)
    elif dtype.kind == "c":
        v = (RNG.uniform(low, high, n) + 1j * RNG.uniform(low, high, n)).astype(dtype)
        edges = np.array([0, 1, 1j, -1], dtype)
    else:
        v = RNG.uniform(low, high, n).astype(dtype)
        edges = np.array([0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 0.5, 1.5, 2.5, -0.5], dtype)
    k = min(n // 2, len(edges))
    v[:k] = edges[:k]
    return v.reshape(shape)


def tame(shape, dtype=np.float32, low=-2, high=2):
    dtype = np.dtype(dtype)
    if dtype.kind in "iu":
        return RNG.integers(0, 9, shape).astype(dtype)
    if dtype == np.bool_:
        return RNG.integers(0, 2, shape).astype(dtype)
    if dtype.kind == "c":
        return (RNG.uniform(low, high, shape) + 1j * RNG.uniform(low, high, shape)).astype(dtype)
    return RNG.uniform(low, high, shape).astype(dtype)


def elementwise():
    unary = dict(abs=lax.abs, neg=lax.neg, sign=lax.sign, floor=lax.floor, ceil=lax.ceil, exp=lax.exp,
                 round_even=lambda x: lax.round(x, lax.RoundingMethod.TO_NEAREST_EVEN),
                 round_away=lambda x: lax.round(x, lax.RoundingMethod.AWAY_FROM_ZERO),
                 exp2=lax.exp2, expm1=lax.expm1, log=lax.log, log1p=lax.log1p, tanh=lax.tanh,
                 logistic=lax.logistic, sin=lax.sin, cos=lax.cos, tan=lax.tan, sqrt=lax.sqrt,
                 rsqrt=lax.rsqrt, cbrt=lax.cbrt, is_finite=lax.is_finite, erf=lax.erf, erfc=lax.erfc,
                 erf_inv=lax.erf_inv, lgamma=lax.lgamma, digamma=lax.digamma, asin=lax.asin,
                 acos=lax.acos, atan=lax.atan, sinh=lax.sinh, cosh=lax.cosh, asinh=lax.asinh,
                 acosh=lax.acosh, atanh=lax.atanh)
    for dtype in FLOATS:
        x = values((37,), dtype)
        fs = list(unary.items())
        case(f"unary_{np.dtype(dtype).name}", lambda x, fs=fs: {k: f(x) for k, f in fs}, x)
    for dtype in SIGNED + UNSIGNED:
        x = values((37,), dtype)
        case(f"unary_{np.dtype(dtype).name}",
             lambda x: [lax.bitwise_not(x), lax.population_count(x), lax.clz(x), lax.sign(x)]
             + ([lax.abs(x), lax.neg(x)] if x.dtype.kind == "i" else []), x)
    for dtype in COMPLEX:
        x = tame((19,), dtype)
        fs = [lax.abs, lax.neg, lax.sign, lax.exp, lax.log, lax.log1p, lax.expm1, lax.tanh, lax.sin,
              lax.cos, lax.sqrt, lax.rsqrt, lax.real, lax.imag, lax.conj, lax.logistic]
        case(f"unary_{np.dtype(dtype).name}", lambda x, fs=fs: [f(x) for f in fs], x)
    binary = dict(add=lax.add, sub=lax.sub, mul=lax.mul, max=lax.max, min=lax.min, div=lax.div, rem=lax.rem)
    compare = dict(eq=lax.eq, ne=lax.ne, lt=lax.lt, le=lax.le, gt=lax.gt, ge=lax.ge)
    for dtype in SIGNED + UNSIGNED + FLOATS:
        x, y = values((41,), dtype), values((41,), dtype)[::-1].copy()
        fs = list(binary.items()) + list(compare.items())
        case(f"binary_{np.dtype(dtype).name}", lambda x, y, fs=fs: {k: f(x, y) for k, f in fs}, x, y)
    for dtype in SIGNED + UNSIGNED:
        x, s = values((41,), dtype), RNG.integers(0, 12, 41).astype(dtype)
        case(f"bits_{np.dtype(dtype).name}",
             lambda x, s: [lax.bitwise_and(x, s), lax.bitwise_or(x, s), lax.bitwise_xor(x, s),
                           lax.shift_left(x, s), lax.shift_right_logical(x, s),
                           lax.shift_right_arithmetic(x, s), x ** s], x, s)
    for dtype in FLOATS:
        x, y = values((41,), dtype), values((41,), dtype)[::-1].copy()
        case(f"pow_{np.dtype(dtype).name}", lambda x, y: [lax.pow(x, y), lax.atan2(x, y), x ** 3,
                                                          lax.nextafter(x, y)], x, y)
    for dtype in COMPLEX:
        x, y = tame((19,), dtype), tame((19,), dtype)
        case(f"binary_{np.dtype(dtype).name}",
             lambda x, y: [x + y, x - y, x * y, x / y, lax.pow(x, y), x == y, x != y], x, y)
    p, q = tame((23,), np.bool_), tame((23,), np.bool_)
    case("pred", lambda p, q: [p & q, p | q, p ^ q, ~p, p == q, p != q, p < q, jnp.where(p, 1.0, 2.0)], p, q)
    x = values((23,), np.float32)
    case("clamp", lambda x: [lax.clamp(np.float32(-1), x, np.float32(1)), jnp.clip(x, 0, 2), jnp.where(x > 0, x, -x)], x)
    case("reduce_precision", lambda x: [lax.reduce_precision(x, 8, 7), lax.reduce_precision(x, 5, 10),
                                        lax.reduce_precision(x, 4, 3)], tame((50,)))
    case("bitcast", lambda x: [lax.bitcast_convert_type(x, jnp.uint32), lax.bitcast_convert_type(x, jnp.uint8),
                               lax.bitcast_convert_type(lax.bitcast_convert_type(x, jnp.int32) + 1, jnp.float32)], x)
    for a in ALL:
        x = tame((13,), a) if np.dtype(a).kind != "f" else values((13,), a)
        if np.dtype(a).name in ("bfloat16", "float16"):
            x = tame((13,), a)
        case(f"convert_{np.dtype(a).name}",
             lambda x: [lax.convert_element_type(x, b) for b in ALL
                        if not (jnp.iscomplexobj(x) and np.dtype(b).kind != "c")], x)
    case("int4", lambda x: (x.astype(jnp.int4) + x.astype(jnp.int4)).astype(jnp.int32), tame((9,), np.int8))
    nibbles()


def nibbles():
    """Whole programs answer in int32: what a host makes of the other half of a byte is no concern here."""
    floats = np.array([-20, -8.5, -8, -1.5, -.5, 0, .5, 3.9, 7, 7.5, 8, 14, 15, 15.5, 20, 300, np.nan, np.inf, -np.inf], np.float32)

    def wide(values):
        return [v.astype(jnp.int32) for v in values]
    for t in (jnp.int4, jnp.uint4):
        x = np.arange(-8, 8).astype(np.int8).astype(t)
        y = np.roll(x, 5)
        name = np.dtype(t).name
        case(f"{name}_arithmetic", lambda x, y: wide([
            x + y, x - y, x * y, lax.div(x, y | jnp.ones((), x.dtype)), lax.rem(x, y | jnp.ones((), x.dtype)),
            jnp.maximum(x, y), jnp.minimum(x, y), x & y, x | y, x ^ y, ~x, lax.sign(x), lax.clz(x), x < y, x == y,
            lax.shift_left(x, y), lax.shift_right_logical(x, y), lax.shift_right_arithmetic(x, y)]), x, y)
        case(f"{name}_products", lambda x, y: wide([
            x.reshape(4, 4) @ y.reshape(4, 4), lax.reduce(x, np.zeros((), x.dtype), lax.add, (0,)), jnp.max(x), lax.sort(y),
            lax.fori_loop(0, 5, lambda i, a: a + a + jnp.ones((), a.dtype), x)]), x, y)
        case(f"{name}_moves", lambda x, y, i: wide([
            x, x[i], lax.dynamic_update_slice(x, y[:4], (3,)), jnp.concatenate([x[::3], y]), lax.iota(x.dtype, 20),
            jnp.array(np.array([-1, 7, -8, 3], np.int8).astype(x.dtype)), jnp.full((2,), 5, x.dtype)]), x, y, np.array([3, 1, 15]))
        case(f"{name}_converts", lambda f, i, x: wide([f.astype(x.dtype), i.astype(x.dtype)]) + [x.astype(jnp.float32)],
             floats, np.arange(-300, 300, 7).astype(np.int32), x)
        case(f"{name}_bits", lambda x, b: wide([lax.bitcast_convert_type(b, x.dtype)]) + [
            lax.bitcast_convert_type(x.reshape(8, 2), jnp.int8), lax.bitcast_convert_type(x.reshape(2, 8), jnp.int32)],
            x, np.arange(-60, 60, 13).astype(np.int8))


def shapes():
    x = tame((3, 4, 5))
    case("views", lambda x: [x.T, x.reshape(5, 12), x[:, 1:3, ::2], x[::-1], jnp.flip(x, (0, 2)),
                             x.transpose(1, 0, 2) + 1, jnp.broadcast_to(x[:, :1], (3, 4, 5)) * x,
                             x.transpose(2, 0, 1).reshape(15, 4) * 2, x[1, 2, 3], x[..., None]], x)
    case("concat", lambda x: [jnp.concatenate([x, x.T.transpose(2, 1, 0), x[:, :, :5] * 2], 1),
                              jnp.stack([x, x + 1]), jnp.concatenate([x[:0], x])], x)
    case("pad", lambda x: [lax.pad(x, np.float32(9), [(1, 2, 0), (0, 0, 2), (-1, 3, 1)]),
                           lax.pad(x, np.float32(0), [(-1, -1, 0), (2, -3, 0), (0, 0, 0)]),
                           lax.pad(x, np.float32(1), [(-3, 0, 0), (0, 0, 0), (0, 0, 0)])], x)
    i = np.array([2, -7, 100], np.int32)
    case("dynamic_slice", lambda x, i: [lax.dynamic_slice(x, (i[0], i[1], i[2]), (2, 3, 1)),
                                        lax.dynamic_update_slice(x, x[:1, :2, :2] * 2, (i[1], i[0], i[2]))], x, i)
    case("iota", lambda x: [lax.broadcasted_iota(t, (3, 4), d) for d in (0, 1)
                            for t in (np.int32, np.float32, jnp.bfloat16, np.uint8, np.complex64)], x)
    case("empty", lambda x: [x[:0] + 1, x[:0].sum(), x[:0].sum(0), jnp.concatenate([x[:0], x[:0]]),
                             x[:, :0] @ x[:, :0].transpose(0, 2, 1), x[:0].reshape(0, 20).T], x)
    case("constants", lambda x: [x + np.arange(5, dtype=np.float32), jnp.array([1, 2, 3]),
                                 jnp.ones((300, 300)), jnp.eye(4), jnp.tri(5), jnp.pi * x], x)
    case("same_twice", lambda x: (x, x, x + 1, x), x)


def contractions():
    for dtype in [jnp.bfloat16, np.float16, np.float32, np.float64, np.int32, np.int8, np.complex64]:
        a, b = tame((6, 7), dtype), tame((7, 5), dtype)
        case(f"dot_{np.dtype(dtype).name}", lambda a, b: [a @ b, b.T @ a.T, a[0] @ b, jnp.vdot(a[0], a[1]),
                                                          (a @ b).sum()], a, b)
    for spec, s, t in [("bij,bjk->bik", (3, 4, 5), (3, 5, 6)), ("ij,kj->ik", (4, 5), (6, 5)),
                       ("ji,jk->ik", (5, 4), (5, 6)), ("bqhd,bkhd->bhqk", (2, 3, 4, 5), (2, 6, 4, 5)),
                       ("bhqk,bkhd->bqhd", (2, 4, 3, 6), (2, 6, 4, 5)), ("i,j->ij", (4,), (5,)),
                       ("abc,cde->abde", (2, 3, 4), (4, 5, 6)), ("abc,abd->cd", (2, 3, 4), (2, 3, 5))]:
        case(f"einsum_{spec}", functools.partial(jnp.einsum, spec), tame(s), tame(t))
    case("dot_mixed", lambda a, b: lax.dot(a, b, preferred_element_type=jnp.float32),
         tame((5, 6), jnp.bfloat16), tame((6, 4), jnp.bfloat16))
    case("dot_big", lambda a, b: a @ b, tame((200, 300)), tame((300, 150)))
    case("dot_broadcast", lambda a, b: jnp.matmul(jnp.broadcast_to(a, (3, 4, 5)), b), tame((4, 5)), tame((3, 5, 2)))

    def conv(x, w, **k):
        return lax.conv_general_dilated(x, w, **k)
    x, w = tame((2, 8, 9, 4)), tame((3, 3, 4, 6))
    nhwc = dict(dimension_numbers=("NHWC", "HWIO", "NHWC"))
    nchw = dict(dimension_numbers=("NCHW", "OIHW", "NCHW"))
    for name, k in dict(same=dict(window_strides=(1, 1), padding="SAME"), valid=dict(window_strides=(2, 1), padding="VALID"),
                        dilated=dict(window_strides=(1, 2), padding=[(1, 2), (0, 3)], rhs_dilation=(2, 1)),
                        transposed=dict(window_strides=(1, 1), padding=[(2, 2), (1, 1)], lhs_dilation=(2, 3)),
                        negative=dict(window_strides=(1, 1), padding=[(-1, 0), (0, -1)])).items():
        case(f"conv_{name}", functools.partial(conv, **nhwc, **k), x, w)
        case(f"conv_nchw_{name}", functools.partial(conv, **nchw, **k), x.transpose(0, 3, 1, 2).copy(),
             w.transpose(3, 2, 0, 1).copy())
        case(f"conv_grad_{name}", jax.grad(lambda x, w, k=k: (conv(x, w, **nhwc, **k) ** 2).sum(), (0, 1)), x, w)
    case("conv_groups", functools.partial(conv, window_strides=(1, 1), padding="SAME", feature_group_count=2, **nhwc),
         x, tame((3, 3, 2, 6)))
    case("conv_depthwise_grad", jax.grad(lambda x, w: conv(x, w, window_strides=(1, 1), padding="SAME",
                                                           feature_group_count=4, **nhwc).sum(), (0, 1)), x, tame((3, 3, 1, 4)))
    case("conv_batch_groups", functools.partial(conv, window_strides=(1, 1), padding="SAME", batch_group_count=2, **nhwc), x, w)
    case("conv_1d", lambda x, w: lax.conv_general_dilated(x, w, (1,), "SAME", dimension_numbers=("NWC", "WIO", "NWC")),
         tame((2, 10, 3)), tame((3, 3, 5)))
    case("conv_3d", lambda x, w: lax.conv(x, w, (1, 1, 1), "SAME"), tame((1, 2, 4, 5, 6)), tame((3, 2, 2, 3, 2)))
    case("conv_bf16", functools.partial(conv, window_strides=(1, 1), padding="SAME", **nhwc),
         tame((2, 8, 9, 4), jnp.bfloat16), tame((3, 3, 4, 6), jnp.bfloat16))


def reductions():
    for shape in [(3, 4, 5), (2, 100, 3), (1000,), (70, 700), (7, 1, 129), (40000,), (2, 3, 4, 5, 6)]:
        x = tame(shape)
        axes = [None] + list(range(len(shape))) + ([(0, len(shape) - 1)] if len(shape) > 2 else [])
        case(f"reduce_{shape}", lambda x, axes=axes: [[x.sum(a), x.max(a), x.min(a), (x * x + 1).mean(a)] for a in axes], x)
        case(f"argmax_{shape}", lambda x, axes=axes: [[jnp.argmax(x, a), jnp.argmin(x, a)] for a in axes[:-1] if a is None or isinstance(a, int)], x)
    for dtype in SIGNED + UNSIGNED + FLOATS + COMPLEX:
        x = tame((5, 70), dtype)
        case(f"reduce_{np.dtype(dtype).name}", lambda x: [x.sum(0, dtype=x.dtype), x.sum(1, dtype=x.dtype), x.prod(1, dtype=x.dtype)]
             + ([] if jnp.iscomplexobj(x) else [x.max(0), x.min(1)]), x[:, :20])
    case("reduce_pred", lambda p: [p.any(), p.all(), p.any(0), p.all(1)], tame((6, 9), np.bool_))
    case("reduce_nan", lambda x: [x.max(), x.min(), x.sum(), jnp.nanmax(x), jnp.argmax(x)], values((90,), np.float32))
    case("reduce_init", lambda x: [lax.reduce(x, np.float32(5), lax.add, (0,)), lax.reduce(x, np.float32(5), lax.max, (0, 1))], tame((5, 6)))
    case("reduce_body", lambda x: lax.reduce(x, np.float32(1), lambda a, b: a * b + a + b, (1,)), tame((4, 20), low=-.1, high=.1))
    case("softmax", lambda x: [jax.nn.softmax(x), jax.nn.softmax(x, 0), jax.nn.log_softmax(x), jax.nn.logsumexp(x),
                               x / jnp.linalg.norm(x, axis=-1, keepdims=True), jnp.var(x, 0), jax.nn.standardize(x)], tame((17, 65)))
    x = tame((3, 8, 10))
    case("window", lambda x: [lax.reduce_window(x, np.float32(-np.inf), lax.max, (1, 3, 2), (1, 2, 2), "SAME"),
                              lax.reduce_window(x, np.float32(0), lax.add, (1, 3, 3), (1, 1, 2), [(0, 0), (1, 1), (2, 0)]),
                              lax.reduce_window(x, np.float32(0), lax.add, (1, 2, 2), (1, 1, 1), "VALID", (1, 2, 1), (1, 1, 2)),
                              lax.reduce_window(x, np.float32(1), lax.mul, (2, 1, 1), (1, 1, 1), "VALID")], x)
    case("cumulative", lambda x: [jnp.cumsum(x, 0), jnp.cumsum(x, 1), jnp.cumsum(x, -1), jnp.cumprod(x, 1), lax.cummax(x, 2),
                                  lax.cumsum(x, 1, reverse=True), lax.cumlogsumexp(x, 1)], x)
    case("pool_grad", jax.grad(lambda x: (lax.reduce_window(x, np.float32(-np.inf), lax.max, (1, 2, 2), (1, 2, 2), "SAME") ** 2).sum()), x)
    case("avg_pool_grad", jax.grad(lambda x: (lax.reduce_window(x, np.float32(0), lax.add, (1, 3, 3), (1, 2, 2), "SAME") ** 2).sum()), x)


def indexing():
    x, i = tame((10, 6)), np.array([[1, 3], [9, 0], [2, -1], [12, 4]], np.int32)
    case("gather", lambda x, i: [x[i[:, 0]], x[i[:, 0], i[:, 1]], jnp.take(x, i, 0), jnp.take_along_axis(x, i[:, :1] % 10, 0),
                                 x[:, i[:, 1]], x.at[i[:, 0], 1].get(mode="fill", fill_value=7.0)], x, i)
    case("scatter", lambda x, i: [x.at[i[:, 0]].add(1.0), x.at[i[:, 0], i[:, 1]].set(5.0), x.at[i[:, 0]].mul(2.0),
                                  x.at[i[:, 0]].max(0.5), x.at[1:3, 2].set(0.0), x.at[i[:, 0]].min(x[:4])], x, i)
    case("scatter_bf16", lambda x, i: x.at[i[:, 0]].add(x[:4]), x.astype(jnp.bfloat16), i)
    case("embedding_grad", jax.grad(lambda x, i: (x[i] ** 2).sum()), x, i % 10)
    case("batched_gather", jax.vmap(lambda r, j: r[j]), tame((5, 8)), np.array([0, 7, 3, 9, 1], np.int32))
    case("batched_take", jax.vmap(lambda r, j: [jnp.take(r, j, axis=0), r.at[j].add(1.0)]), tame((3, 8, 2)), RNG.integers(0, 8, (3, 4)).astype(np.int32))
    case("one_hot", lambda i: jax.nn.one_hot(i, 7), np.array([0, 3, 6, 9], np.int32))
    case("dynamic_index", lambda x, i: [lax.dynamic_index_in_dim(x, i[0, 0], 0), lax.dynamic_update_index_in_dim(x, x[0], i[1, 0], 0)], x, i)


def sorting():
    for dtype in [np.float32, np.int32, np.uint8, jnp.bfloat16, np.float64, np.uint64, np.int64]:
        x = values((4, 33), dtype)
        case(f"sort_{np.dtype(dtype).name}", lambda x: [jnp.sort(x), jnp.sort(x, 0), jnp.argsort(x), jnp.sort(x, descending=True)], x)
    x, y = RNG.integers(0, 4, (60,)).astype(np.int32), tame((60,))
    case("sort_pairs", lambda x, y: [lax.sort((x, y), num_keys=1), lax.sort((x, y), num_keys=2), jnp.lexsort((y, x))], x, y)
    case("sort_body", lambda x: lax.sort_p.bind(x, dimension=0, is_stable=True, num_keys=1), y)
    case("top_k", lambda x: [lax.top_k(x, 3), lax.top_k(x, 1), lax.top_k(x.astype(jnp.int32), 5)], tame((5, 20)))
    case("approx_top_k", lambda x: [lax.approx_max_k(x, 3), lax.approx_min_k(x, 2, reduction_dimension=0)], tame((5, 20)))
    case("unique", lambda x: [jnp.unique(x, size=5), jnp.searchsorted(jnp.sort(x), 2), jnp.bincount(x, length=6), jnp.median(y)], x)


def control():
    x = tame((5, 4))
    case("scan", lambda x: lax.scan(lambda c, a: (c * 0.9 + a, c.sum()), jnp.zeros(4), x), x)
    case("scan_swap", lambda x: lax.scan(lambda c, a: ((c[1], c[0] + a), c[0]), (jnp.zeros(4), jnp.ones(4)), x), x)
    case("scan_reverse", lambda x: lax.scan(lambda c, a: (c + a, c * a), jnp.ones(4), x, reverse=True), x)
    case("scan_grad", jax.grad(lambda x: lax.scan(lambda c, a: (jnp.tanh(c * a), c), jnp.ones(4), x)[1].sum()), x)
    case("nested", lambda x: lax.fori_loop(0, 3, lambda i, c: lax.fori_loop(0, i + 1, lambda j, d: d * 1.1 + j, c), x), x)
    case("nested_scan", lambda x: lax.scan(lambda c, a: lax.scan(lambda d, b: (d + b, d * c), c, a * x), jnp.zeros(4), x), x)
    case("while", lambda x: lax.while_loop(lambda s: s[0] < 50, lambda s: (s[0] * 2 + s[1], s[1], s[2] + 1), (1.0, 3.0, x)), x)
    case("cond", lambda x: [lax.cond(x[0, 0] > 9, lambda v: v + 1, lambda v: v * 2, x),
                            lax.cond(True, lambda v: v, lambda v: v * 2, x),
                            lax.switch(2, [lambda v: v, lambda v: -v, lambda v: v[::-1]], x),
                            lax.switch(x[0].astype(int)[0] + 9, [lambda v: (v, v), lambda v: (-v, v)], x)], x)
    case("cond_in_scan", lambda x: lax.scan(lambda c, a: (lax.cond(a[0] > 0, lambda: c + a, lambda: c), c), jnp.zeros(4), x), x)
    case("map", lambda x: lax.map(lambda r: (r * 2).sum(), x), x)
    case("checkpoint", jax.grad(lambda x: jax.checkpoint(lambda v: jnp.sin(jnp.sin(v)))(x).sum()), x)
    case("barrier", lambda x: lax.optimization_barrier((x, x + 1)), x)
    case("associative_scan", lambda x: lax.associative_scan(jnp.add, x), tame((9, 3)))


def randoms():
    x = np.zeros((), np.uint32)

    def draw(impl):
        def f(x):
            k = jax.random.wrap_key_data(jnp.tile(jnp.stack([x, x + 7]), 2 if impl == "rbg" else 1), impl=impl)
            a, b, c = jax.random.split(k, 3)
            return [jax.random.uniform(a, (11,)), jax.random.normal(b, (3, 5)), jax.random.bits(c, (7,)),
                    jax.random.randint(a, (6,), 0, 99), jax.random.bernoulli(b, 0.3, (9,)), jax.random.permutation(c, 8),
                    jax.random.categorical(a, jnp.ones((4, 5))), jax.random.gumbel(b, (4,)),
                    jax.random.truncated_normal(c, -1, 1, (5,)), jax.random.bits(a, (3, 3), jnp.uint8)]
        return f
    case("random_threefry", draw("threefry2x32"), x)
    case("random_rbg", draw("rbg"), x)
    s = np.array([3, 2 ** 40 + 5], np.uint64)
    for alg in (lax.RandomAlgorithm.RNG_THREE_FRY, lax.RandomAlgorithm.RNG_PHILOX, lax.RandomAlgorithm.RNG_DEFAULT):
        case(f"rng_bits_{alg.name}", lambda s, alg=alg: [lax.rng_bit_generator(s, shape, t, algorithm=alg)
             for shape in [(5,), (3, 4), (3, 5, 7), ()] for t in (np.uint32, np.uint64, np.uint8, np.uint16)], s)


def algebra():
    for dtype in [np.float32, np.float64, np.complex64]:
        m = tame((3, 5, 5), dtype)
        m = m @ m.conj().transpose(0, 2, 1) + 5 * np.eye(5, dtype=dtype)
        b = tame((3, 5, 2), dtype)
        case(f"cholesky_{np.dtype(dtype).name}", lambda m: [lax.linalg.cholesky(m), lax.linalg.cholesky(m[0])], m)
        case(f"triangular_{np.dtype(dtype).name}", lambda m, b: [lax.linalg.triangular_solve(m, b if left else b.transpose(0, 2, 1), left_side=left,
             lower=lower, transpose_a=t, unit_diagonal=u) for left in (True, False) for lower in (True, False)
             for t in (True, False) for u in (True, False)], m, b)
    for dtype in [np.float32, np.float64, np.complex64, np.complex128]:
        m = tame((2, 5, 5), dtype) + 3 * np.eye(5, dtype=dtype)
        case(f"factors_{np.dtype(dtype).name}", factors, m, tame((2, 6, 4), dtype))
    x = tame((3, 12))
    case("fft", lambda x: [jnp.fft.fft(x), jnp.fft.ifft(x), jnp.fft.rfft(x), jnp.fft.irfft(jnp.fft.rfft(x)), jnp.fft.fft2(x),
                           jnp.fft.irfft2(jnp.fft.rfft2(x)), jnp.fft.fft(x[:, :7])], x)


def factors(m, tall):
    """Put together again: vectors may have any sign, or phase."""
    adjoint = lambda a: a.conj().swapaxes(-1, -2)
    q, r = jnp.linalg.qr(tall)
    w, v = jnp.linalg.eigh(m + adjoint(m))
    lu, pivots, order = lax.linalg.lu(m)
    return [q @ r, adjoint(q) @ q, w, (v * w[..., None, :]) @ adjoint(v), lu, pivots, order, jnp.linalg.solve(m, m[..., :2]),
            jnp.linalg.inv(m), jnp.linalg.det(m), jnp.linalg.svd(tall, compute_uv=False)]


def name_of(dtype):
    return np.dtype(dtype).name


def by_type():
    """Every family for every element type: a few programs a type."""
    for dtype in [np.bool_] + SIGNED + UNSIGNED + FLOATS:
        x, p = values((6, 7), dtype), tame((6, 7), np.bool_)
        i = np.array([[1, 3], [5, 0], [2, 6], [-9, 2], [77, 1], [1, 3]], np.int32)
        case(f"shapes_{name_of(dtype)}", moving, x, p, i)
        case(f"indices_{name_of(dtype)}", indexed, tame((6, 7), dtype), i)
        case(f"control_{name_of(dtype)}", flowing, x, np.int32(2))
        case(f"folds_{name_of(dtype)}", folding, tame((6, 7), dtype) if np.dtype(dtype) == np.bool_ else tame((6, 7), dtype) + 1)
        if np.dtype(dtype) != np.bool_:
            case(f"products_{name_of(dtype)}", multiplying, tame((3, 4, 5), dtype), tame((3, 5, 6), dtype),
                 tame((2, 6, 7, 4), dtype), tame((3, 2, 4, 5), dtype))


def moving(x, p, i):
    zero = jnp.zeros((), x.dtype)
    return [x[1:5:2, ::-1], x.T, x.reshape(3, 14), lax.rev(x, (0, 1)), jnp.broadcast_to(x[:, :1], x.shape),
            lax.pad(x, zero, [(1, -1, 2), (0, 3, 0)]), jnp.concatenate([x, x.T.reshape(6, 7), x[:, :2]], 1), jnp.where(p, x, x[::-1]),
            lax.dynamic_slice(x, (i[0, 0], i[4, 0]), (2, 3)), lax.dynamic_update_slice(x, x[:2, :2], (i[3, 0], i[0, 1])),
            lax.broadcasted_iota(x.dtype, (3, 4), 1) if x.dtype != jnp.bool_ else x, lax.bitcast_convert_type(x[0], x.dtype)]


def indexed(x, i):
    rows, cols, some = i[:, 0], i[:, 1], x[:, 0]
    out = [x.at[rows].get(mode=m, fill_value=1 if m == "fill" else None) for m in ("clip", "fill")]
    out += [x.at[rows[:3], cols[:3]].get(mode="promise_in_bounds", unique_indices=True), jnp.take_along_axis(x[:, :2], jnp.abs(i) % 6, 0)]
    for m in ("clip", "drop"):
        out += [x.at[rows].max(x, mode=m), x.at[:, cols].min(x[:, :1], mode=m)]
    out += [x.at[rows[:3], cols[:3]].set(some[:3], unique_indices=True), x.at[2:4, 1].set(some[:2])]
    if x.dtype != jnp.bool_:
        out += [x.at[rows, cols].add(some, mode=m) for m in ("clip", "drop")]
        out += [x.at[rows].multiply(x, mode="drop"), x.at[rows[:3]].apply(lambda v: v + v)]
    out += [lax.sort(x, dimension=0), lax.sort((x, i[:, :1] + jnp.arange(7), x.T.reshape(6, 7)), dimension=1, num_keys=1),
            lax.sort((x % 2 if x.dtype != jnp.bool_ else x, x), dimension=0, num_keys=2), jnp.argsort(x, axis=1, descending=True)]
    return out + ([lax.top_k(x, 3), lax.top_k(x[0], 7)] if x.dtype != jnp.bool_ else [])


def flowing(x, n):
    @jax.jit
    def twice(v):
        return jnp.where(v == v, v | v if v.dtype == jnp.bool_ else v + v, v)
    same = (lambda v: ~v) if x.dtype == jnp.bool_ else (lambda v: v * 2)
    return [lax.while_loop(lambda c: c[0] < n + 3, lambda c: (c[0] + 1, same(c[1])), (n, x)), lax.cond(n > 1, same, lambda v: v, x),
            lax.switch(n, [lambda v: v, same, lambda v: v[::-1]], x), lax.switch(n + 9, [lambda v: v, same], x), twice(twice(x)),
            lax.scan(lambda c, v: (jnp.where(v == v, v, c), same(c)), x[0], x), lax.fori_loop(0, 0, lambda k, c: same(c), x)]


def folding(x):
    dt = x.dtype
    if dt == jnp.bool_:
        low, high = jnp.array(False), jnp.array(True)
        ops = [(lax.bitwise_or, low), (lax.bitwise_and, high), (lax.bitwise_xor, low)]
    else:
        info = jnp.finfo(dt) if jnp.issubdtype(dt, jnp.floating) else jnp.iinfo(dt)
        ops = [(lax.add, jnp.array(0, dt)), (lax.mul, jnp.array(1, dt)), (lax.max, jnp.array(info.min, dt)), (lax.min, jnp.array(info.max, dt))]
    out = []
    for op, init in ops:
        out += [lax.reduce(x, init, op, (0,)), lax.reduce(x[:3, :2], init, op, (0, 1)), lax.reduce(x[:0], init, op, (0,)),
                lax.reduce_window(x, init, op, (2, 2), (1, 1), "VALID"), lax.reduce_window(x, init, op, (1, 3), (2, 2), [(0, 1), (2, 0)]),
                lax.reduce_window(x, init, op, (2, 1), (1, 1), "SAME", (2, 1), (1, 2)), lax.reduce_window(x[:0], init, op, (1, 2), (1, 1), "VALID")]
    if dt != jnp.bool_:
        out += [lax.reduce((x, x[::-1]), (ops[0][1], ops[2][1]), lambda a, b: (a[0] + b[0], lax.max(a[1], b[1])), (1,)),
                lax.argmax(x, 1, jnp.int32), lax.cumsum(x, 0), lax.cumsum(x, 1, reverse=True), lax.cummax(x, 1), lax.cummin(x, 0), lax.cumprod(x[:, :4], 1)]
        for select in (lax.ge_p, lax.le_p):
            for window, strides, padding in [((2, 3), (2, 2), [(0, 0), (0, 0)]), ((3, 2), (1, 2), [(1, 1), (0, 1)])]:
                like = lax.reduce_window(x, ops[2][1], lax.max, window, strides, padding)
                out.append(windowed_reductions._select_and_scatter_add(like, x, select, window, strides, padding))
    return out


def multiplying(a, b, x, w):
    out = [jnp.einsum("bij,bjk->bik", a, b, preferred_element_type=a.dtype), lax.dot(a[0], b[0], preferred_element_type=a.dtype),
           jnp.einsum("bij,bjk->ik", a, b, preferred_element_type=a.dtype), lax.dot(a[0], b[0, :, 0], preferred_element_type=a.dtype)]
    for k in (dict(window_strides=(1, 2), padding="SAME"), dict(window_strides=(1, 1), padding=[(0, 1), (2, 0)], rhs_dilation=(1, 2), lhs_dilation=(2, 1))):
        out.append(lax.conv_general_dilated(x, w, dimension_numbers=("NHWC", "HWIO", "NHWC"), **k))
    return out

SMALL_FLOATS = ["float4_e2m1fn", "float8_e3m4", "float8_e4m3", "float8_e4m3fn", "float8_e4m3fnuz", "float8_e4m3b11fnuz", "float8_e5m2",
                "float8_e5m2fnuz", "float8_e8m0fnu"]
SMALL_INTS = ["int2", "int4", "uint2", "uint4"]


def small_types():
    """Floats of one byte and integers of less: all values, and all pairs of them."""
    import ml_dtypes

    near = np.linspace(-20, 20, 4001).astype(np.float32)
    wild = np.concatenate([near, RNG.normal(size=2000) * np.exp(RNG.normal(size=2000) * 6), [np.inf, -np.inf, np.nan, 1e30, -1e30, 0.0, -0.0]])
    for name in SMALL_FLOATS + SMALL_INTS:
        dt = np.dtype(getattr(ml_dtypes, name))
        bits = 2 if name.endswith("int2") else 4 if "4_" in name or name.endswith("int4") else 8
        unsigned, signed = (getattr(jnp, f"{kind}{bits}") for kind in ("uint", "int"))
        codes = np.arange(1 << bits, dtype=np.uint8).view(dt)
        some = codes[64:] if name == "float8_e8m0fnu" else codes # XLA takes small powers for 0
        a, b = (c.ravel() for c in np.meshgrid(some, some))

        to = [jnp.float32, jnp.float64, jnp.bfloat16, jnp.bool_] + ([] if name == "float4_e2m1fn" else [jnp.int32, jnp.uint8])
        case(f"small_from_{name}", lambda x, to=to: [x.astype(t) for t in to], codes)
        case(f"small_to_{name}", lambda x, dt=dt: [x.astype(dt), x.astype(jnp.float64).astype(dt), x.astype(jnp.bfloat16).astype(dt)],
             wild.astype(np.float32))
        case(f"small_to_{name}_int", lambda x, dt=dt: [x.astype(dt), x.astype(jnp.int8).astype(dt), (x > 0).astype(dt)],
             RNG.integers(-300, 300, 500).astype(np.int32))
        case(f"small_binary_{name}", lambda x, y: [x + y, x - y, x * y, jnp.maximum(x, y), jnp.minimum(x, y), x < y, x == y, jnp.where(x > y, x, y)],
             a, b)
        case(f"small_bits_{name}", lambda x, unsigned=unsigned, signed=signed: [lax.bitcast_convert_type(x, t).astype(jnp.int32) for t in (unsigned, signed)], codes)
        if bits > 2: # XLA's own compiler fails for shorter ones, and computes with none of less than 8 bits reliably
            case(f"small_shapes_{name}", lambda x: [x.reshape(-1, 2).T, jnp.flip(x), jnp.pad(x, 3), x[1::2], jnp.concatenate([x, x]), jnp.take(x, jnp.arange(3)),
                                                    x.at[1].set(x[0])], codes)
        if bits == 8 and name != "float8_e8m0fnu":
            m = codes[RNG.integers(0, len(codes), (6, 8))]
            finite = np.where(np.isfinite(m.astype(np.float32)), m, np.zeros((), dt))
            case(f"small_dot_{name}", lambda x: [lax.dot_general(x, x.T, (((1,), (0,)), ((), ())), preferred_element_type=jnp.float32)], finite)
            case(f"small_reduce_{name}", lambda x: [jnp.max(x, 0).astype(jnp.float32), jnp.min(x, 1).astype(jnp.float32), jnp.sort(x, 1).astype(jnp.float32)], finite)


for family in (by_type, elementwise, shapes, contractions, reductions, indexing, sorting, control, randoms, algebra, small_types):
    family()
