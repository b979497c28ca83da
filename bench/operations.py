"""Single operations as JAX users write them: OPERATIONS is a list of (name, function, arguments)."""
import jax
import jax.numpy as jnp
import jax.scipy
import numpy as np
from jax import lax

OPERATIONS = []
random = np.random.default_rng(0)


def add(name, function, *arguments):
    OPERATIONS.append((name, function, arguments))


def floats(*shape):
    return random.standard_normal(shape).astype(np.float32)


def bf16(*shape):
    return floats(*shape).astype(jnp.bfloat16)


def c64(*shape):
    return (floats(*shape) + 1j * floats(*shape)).astype(np.complex64)


def below(most, *shape):
    return random.integers(0, most, shape).astype(np.int32)


def definite(*shape):
    a = floats(*shape)
    return a @ np.swapaxes(a, -1, -2) + shape[-1] * np.eye(shape[-1], dtype=np.float32)


KEY = np.array([0, 42], np.uint32)  # of Threefry
LAYOUTS = {1: ("NWC", "WIO", "NWC"), 2: ("NHWC", "HWIO", "NHWC"), 3: ("NDHWC", "DHWIO", "NDHWC")}


def conv(x, w, stride=1, **more):
    n = x.ndim - 2
    return lax.conv_general_dilated(x, w, (stride,) * n, "SAME", dimension_numbers=LAYOUTS[n], **more)


def pool(x):
    return lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")


def product(a, b):
    return a @ b


# ---- products ----
add("matmul-512", product, floats(512, 512), floats(512, 512))
add("matmul-1024", product, floats(1024, 1024), floats(1024, 1024))
add("matmul-bf16-512", product, bf16(512, 512), bf16(512, 512))
add("matmul-highest-512", lambda a, b: jnp.dot(a, b, precision="highest"), floats(512, 512), floats(512, 512))
add("matmul-int8-512", lambda a, b: lax.dot(a, b, preferred_element_type=jnp.int32),
    below(100, 512, 512).astype(np.int8), below(100, 512, 512).astype(np.int8))
add("matvec-2048", product, floats(2048, 2048), floats(2048))
add("matmul-batch-64", product, floats(64, 64, 64), floats(64, 64, 64))
add("einsum-attention-scores", lambda q, k: jnp.einsum("bqhd,bkhd->bhqk", q, k), floats(4, 128, 8, 32), floats(4, 128, 8, 32))
add("matmul-complex-256", product, c64(256, 256), c64(256, 256))

# ---- convolutions and windows ----
add("conv-3x3-32ch-56", conv, floats(8, 56, 56, 32), floats(3, 3, 32, 32))
add("conv-3x3-64ch-28", conv, floats(8, 28, 28, 64), floats(3, 3, 64, 64))
add("conv-1x1-256ch-14", conv, floats(8, 14, 14, 256), floats(1, 1, 256, 256))
add("conv-7x7-stride-2", lambda x, w: conv(x, w, 2), floats(4, 112, 112, 3), floats(7, 7, 3, 64))
add("conv-depthwise", lambda x, w: conv(x, w, feature_group_count=64), floats(8, 28, 28, 64), floats(3, 3, 1, 64))
add("conv-grads", jax.grad(lambda x, w: conv(x, w).sum(), argnums=(0, 1)), floats(4, 28, 28, 32), floats(3, 3, 32, 32))
add("conv-transpose", lambda x, w: lax.conv_transpose(x, w, (2, 2), "SAME", dimension_numbers=LAYOUTS[2]),
    floats(4, 14, 14, 64), floats(4, 4, 64, 32))
add("conv-1d", conv, floats(8, 512, 64), floats(5, 64, 64))
add("conv-3d", conv, floats(2, 16, 16, 16, 8), floats(3, 3, 3, 8, 16))
add("maxpool", pool, floats(8, 56, 56, 64))
add("maxpool-grad", jax.grad(lambda x: pool(x).sum()), floats(8, 56, 56, 64))

# ---- elementwise ----
add("gelu", jax.nn.gelu, floats(1024, 1024))
add("exp", jnp.exp, floats(1024, 1024))
add("tanh", jnp.tanh, floats(1024, 1024))
add("sin", jnp.sin, floats(1024, 1024))
add("log", lambda x: jnp.log(jnp.abs(x) + 1), floats(1024, 1024))
add("pow", lambda x: jnp.abs(x) ** 1.7, floats(1024, 1024))
add("erf-inv", lambda x: jax.scipy.special.erfinv(jnp.tanh(x)), floats(1024, 1024))
add("add", lambda x, y: x + y, floats(1024, 1024), floats(1024, 1024))
add("bf16-tanh", lambda x: jnp.tanh(x) * 2 + 1, bf16(1024, 1024))
add("where", lambda x: jnp.where(x > 0, x, 0.1 * x), floats(1024, 1024))
add("int32-arithmetic", lambda x: (x * 1103515245 + 12345) % 65536, below(1 << 30, 1 << 20))
add("int32-division", lambda x: x // 7, below(1 << 30, 1 << 20))
add("one-hot", lambda i: jax.nn.one_hot(i, 1000), below(1000, 4096))
add("adam", lambda p, g, m, v: (lambda m2, v2: (p - 1e-3 * m2 / (jnp.sqrt(v2) + 1e-8), m2, v2))(
    0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g * g), *(floats(1 << 20) for _ in range(3)), np.abs(floats(1 << 20)))

# ---- reductions and scans ----
add("softmax", lambda x: jax.nn.softmax(x, -1), floats(1024, 1024))
add("softmax-grad", jax.grad(lambda x: (jax.nn.softmax(x, -1) ** 2).sum()), floats(1024, 1024))
add("layernorm", lambda x: (x - x.mean(-1, keepdims=True)) * lax.rsqrt(x.var(-1, keepdims=True) + 1e-6), floats(1024, 768))
add("batchnorm", lambda x: (x - x.mean((0, 1, 2))) * lax.rsqrt(x.var((0, 1, 2)) + 1e-5), floats(8, 56, 56, 64))
add("sum-columns", lambda x: x.sum(0), floats(2048, 1024))
add("sum-rows", lambda x: x.sum(1), floats(2048, 1024))
add("argmax", lambda x: jnp.argmax(x, -1), floats(1024, 1024))
add("cumsum-rows", lambda x: jnp.cumsum(x, -1), floats(1024, 1024))
add("cumsum-1d", jnp.cumsum, floats(1 << 20))
add("associative-scan", lambda x: lax.associative_scan(jnp.add, x), floats(4096, 16))
add("pairwise-distance", lambda x: jnp.sqrt(((x[:, None] - x[None]) ** 2).sum(-1) + 1e-6), floats(512, 16))

# ---- moves ----
add("transpose-2048", lambda x: x.T.copy() + 0, floats(2048, 2048))
add("nchw-to-nhwc", lambda x: jnp.transpose(x, (0, 2, 3, 1)) + 0, floats(8, 64, 56, 56))
add("concatenate", lambda x, y: jnp.concatenate([x, y], 1), floats(1024, 512), floats(1024, 512))
add("roll", lambda x: jnp.roll(x, (3, 5), (0, 1)), floats(1024, 1024))
add("reverse", lambda x: x[::-1, ::-1] + 0, floats(1024, 1024))
add("pad-reflect", lambda x: jnp.pad(x, ((0, 0), (3, 3), (3, 3), (0, 0)), "reflect"), floats(8, 56, 56, 16))
add("resize-bilinear", lambda x: jax.image.resize(x, (8, 128, 128, 3), "bilinear"), floats(8, 64, 64, 3))
add("resize-cubic", lambda x: jax.image.resize(x, (8, 128, 128, 3), "cubic"), floats(8, 64, 64, 3))

# ---- indices ----
add("gather-rows", lambda t, i: t[i], floats(10000, 128), below(10000, 4096))
add("embedding-grad", jax.grad(lambda t, i: (t[i] ** 2).sum()), floats(10000, 128), below(10000, 4096))
add("segment-sum", lambda x, i: jax.ops.segment_sum(x, i, 1000), floats(20000, 32), below(1000, 20000))
add("scatter-set", lambda x, i, v: x.at[i].set(v), floats(10000, 8), random.permutation(10000)[:5000].astype(np.int32), floats(5000, 8))
add("take-along-axis", lambda x, i: jnp.take_along_axis(x, i, 1), floats(1024, 1024), below(1024, 1024, 256))
add("cache-update", lambda c, k, i: lax.dynamic_update_slice(c, k, (0, i, 0, 0)), floats(8, 512, 8, 64), floats(8, 1, 8, 64), np.int32(7))

# ---- order ----
add("sort", jnp.sort, floats(1 << 20))
add("sort-rows", lambda x: jnp.sort(x, -1), floats(1024, 1024))
add("argsort", jnp.argsort, floats(100000))
add("top-k", lambda x: lax.top_k(x, 50), floats(8, 50000))
add("sort-int32", jnp.sort, below(1 << 30, 200000))

# ---- random numbers ----
add("normal", lambda k: jax.random.normal(k, (1024, 1024)), KEY)
add("uniform", lambda k: jax.random.uniform(k, (1024, 1024)), KEY)
add("categorical", lambda k, l: jax.random.categorical(k, l), KEY, floats(256, 1000))
add("permutation", lambda k: jax.random.permutation(k, 10000), KEY)
add("gamma", lambda k: jax.random.gamma(k, 2.0, (10000,)), KEY)
add("dropout", lambda k, x: jnp.where(jax.random.bernoulli(k, 0.9, x.shape), x / 0.9, 0), KEY, floats(1024, 1024))

# ---- Fourier transforms, linear algebra ----
add("fft-64k", jnp.fft.fft, c64(65536))
add("rfft2-256", jnp.fft.rfft2, floats(4, 256, 256))
add("fft-prime-10007", jnp.fft.fft, c64(10007))
add("fft-rows-1000", jnp.fft.fft, c64(256, 1000))
add("irfft-4096", lambda x: jnp.fft.irfft(x), c64(64, 2049))
add("cholesky-256", jnp.linalg.cholesky, definite(256, 256))
add("cholesky-8x8", jnp.linalg.cholesky, definite(64, 8, 8))
add("solve-256", jnp.linalg.solve, floats(256, 256), floats(256, 4))
add("qr-256", lambda x: jnp.linalg.qr(x)[1], floats(256, 256))
add("svd-128", lambda x: jnp.linalg.svd(x)[1], floats(128, 128))
add("eigh-128", lambda x: jnp.linalg.eigh(x + x.T)[0], floats(128, 128))
add("inv-128", jnp.linalg.inv, floats(128, 128))
add("triangular-solve-512", lambda l, y: jax.scipy.linalg.solve_triangular(l, y, lower=True),
    np.tril(floats(512, 512)) + 30 * np.eye(512, dtype=np.float32), floats(512, 16))
add("expm-64", jax.scipy.linalg.expm, floats(64, 64) / 8)

# ---- loops ----
add("while-scalar", lambda x: lax.fori_loop(0, 1000, lambda i, v: v * 0.999 + 1, x), np.float32(1))
add("while-vector", lambda x: lax.fori_loop(0, 1000, lambda i, v: jnp.sin(v) + v * 0.5, x), floats(8))
add("scan-rnn", lambda w, x: lax.scan(lambda h, xi: (jnp.tanh(h @ w + xi), h), jnp.zeros((8, 64)), x)[0],
    floats(64, 64) / 8, floats(128, 8, 64))


def lstm(w, x):
    def cell(carry, xi):
        h, c = carry
        z = jnp.concatenate([xi, h], -1) @ w
        o, f, g = jnp.split(z, 3, -1)
        return (jax.nn.sigmoid(o) * jnp.tanh(c), jax.nn.sigmoid(f) * c + jnp.tanh(g)), None

    return lax.scan(cell, (jnp.zeros((16, 128)), jnp.zeros((16, 128))), x)[0][0].sum()


def markov(transition, observed):
    def forward(alpha, x):
        return jax.nn.logsumexp(alpha[:, None] + transition, 0) + x, None

    return lax.scan(forward, jnp.zeros(8), observed)[0]


def alternate(i, v):
    return lax.cond(i % 2 == 0, lambda v: v + 1, lambda v: v * 0.9, v)


def attention(q, k, v):
    weights = jax.nn.softmax(jnp.einsum("bqhd,bkhd->bhqk", q, k))
    return jnp.einsum("bhqk,bkhd->bqhd", weights, v).sum()


add("scan-lstm-grad", jax.grad(lstm), floats(256, 384) / 16, floats(64, 16, 128))
add("scan-markov", markov, floats(8, 8), floats(1000, 8))
add("map-256", lambda x: lax.map(lambda v: jnp.sum(jnp.sin(v)), x), floats(256, 64))
add("cond-in-loop", lambda x: lax.fori_loop(0, 500, alternate, x), floats(16))
add("update-in-loop", lambda x: lax.fori_loop(0, 200, lambda i, v: v.at[i].set(v[i - 1] + 1), x), floats(1000, 16))

# ---- together ----
add("attention-grad", jax.grad(attention), *(floats(4, 128, 4, 32) for _ in range(3)))
add("dispatch-small", lambda x: x + 1, floats(4))
add("dispatch-200-arguments", lambda *a: [x + 1 for x in a], *(floats(4) for _ in range(200)))
