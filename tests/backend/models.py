"""Whole training steps: MODELS is a list of (name, step, state, batch); step(state, batch) -> state, loss."""
import jax
import jax.numpy as jnp
import numpy as np

MODELS = []


def normal(key, *shape):
    return np.random.default_rng(key).standard_normal(shape).astype(np.float32)


def adamw(params, grads, state, lr=1e-3, b1=0.9, b2=0.999, eps=1e-8, decay=0.01):
    step, m, v = state
    step = step + 1
    m = jax.tree.map(lambda m, g: b1 * m + (1 - b1) * g, m, grads)
    v = jax.tree.map(lambda v, g: b2 * v + (1 - b2) * g * g, v, grads)
    c1, c2 = 1 - b1 ** step, 1 - b2 ** step
    params = jax.tree.map(lambda p, m, v: p - lr * (m / c1 / (jnp.sqrt(v / c2) + eps) + decay * p), params, m, v)
    return params, (step, m, v)


def with_adamw(loss):
    def step(state, batch):
        params, opt = state
        value, grads = jax.value_and_grad(loss)(params, batch)
        params, opt = adamw(params, grads, opt)
        return (params, opt), value
    return step


def moments(params):
    return jnp.float32(0), jax.tree.map(jnp.zeros_like, params), jax.tree.map(jnp.zeros_like, params)


def start(params):
    return params, jax.tree.map(np.asarray, moments(params))


def transformer_params(length, width, layers, vocab, hidden=4):
    d = width
    return dict(embed=normal(0, vocab, d) * .02, place=normal(1, length, d) * .02, n=np.ones(d, np.float32),
                layers=[dict(n1=np.ones(d, np.float32), n2=np.ones(d, np.float32), qkv=normal(10 + i, d, 3 * d) * .05,
                             o=normal(20 + i, d, d) * .05, up=normal(30 + i, d, hidden * d) * .05,
                             down=normal(40 + i, hidden * d, d) * .05) for i in range(layers)])


def transformer_loss(heads, remat=False):
    def block(x, p):
        b, t, d = x.shape
        h = norm(x, p["n1"])
        q, k, v = jnp.split(h @ p["qkv"], 3, -1)
        q, k, v = (a.reshape(b, t, heads, d // heads).transpose(0, 2, 1, 3) for a in (q, k, v))
        s = jnp.einsum("bhqd,bhkd->bhqk", q, k) / np.float32(np.sqrt(d // heads))
        s = jnp.where(jnp.tril(jnp.ones((t, t), bool)), s, -1e9)
        o = jnp.einsum("bhqk,bhkd->bhqd", jax.nn.softmax(s), v).transpose(0, 2, 1, 3).reshape(b, t, d)
        x = x + o @ p["o"]
        return x + jax.nn.gelu(norm(x, p["n2"]) @ p["up"]) @ p["down"]

    def norm(x, g):
        return (x - x.mean(-1, keepdims=True)) * jax.lax.rsqrt(x.var(-1, keepdims=True) + 1e-5) * g

    def loss(p, tokens):
        x = p["embed"][tokens[:, :-1]] + p["place"]
        for layer in p["layers"]:
            x = (jax.checkpoint(block) if remat else block)(x, layer)
        logits = norm(x, p["n"]) @ p["embed"].T
        logp = jax.nn.log_softmax(logits)
        return -jnp.take_along_axis(logp, tokens[:, 1:, None], -1).mean()

    return loss


def transformer(batch=8, length=64, width=128, heads=4, layers=2, vocab=256, remat=False):
    tokens = np.random.default_rng(0).integers(0, vocab, (batch, length + 1)).astype(np.int32)
    return with_adamw(transformer_loss(heads, remat)), start(transformer_params(length, width, layers, vocab)), tokens


def cnn(batch=16, size=28):
    def conv(x, w, stride=1):
        return jax.lax.conv_general_dilated(x, w, (stride, stride), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))

    def pool(x):
        return jax.lax.reduce_window(x, np.float32(-np.inf), jax.lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")

    def loss(p, batch):
        x, y = batch
        x = pool(jax.nn.relu(conv(x, p["c1"]) + p["b1"]))
        x = conv(x, p["c2"])
        mean, var = x.mean((0, 1, 2)), x.var((0, 1, 2))
        x = pool(jax.nn.relu((x - mean) * jax.lax.rsqrt(var + 1e-5) * p["g2"] + p["b2"]))
        x = jax.nn.relu(x.reshape(x.shape[0], -1) @ p["w3"] + p["b3"])
        logp = jax.nn.log_softmax(x @ p["w4"])
        return -(jax.nn.one_hot(y, 10) * logp).sum(-1).mean()

    flat = (size // 4) ** 2 * 64
    params = dict(c1=normal(0, 3, 3, 1, 32) * .2, b1=np.zeros(32, np.float32), c2=normal(1, 3, 3, 32, 64) * .05,
                  g2=np.ones(64, np.float32), b2=np.zeros(64, np.float32), w3=normal(2, flat, 128) * .02,
                  b3=np.zeros(128, np.float32), w4=normal(3, 128, 10) * .1)
    y = np.random.default_rng(0).integers(0, 10, batch).astype(np.int32)
    return with_adamw(loss), start(params), (normal(5, batch, size, size, 1), y)


def rnn(batch=16, length=20, width=32):
    def loss(p, batch):
        x, y = batch

        def cell(h, x):
            z = jax.nn.sigmoid(jnp.concatenate([x, h], -1) @ p["z"])
            h = (1 - z) * h + z * jnp.tanh(x @ p["wx"] + h @ p["wh"] + p["b"])
            return h, h
        _, hs = jax.lax.scan(cell, jnp.zeros((x.shape[0], width)), x.transpose(1, 0, 2))
        return ((hs.transpose(1, 0, 2) @ p["out"] - y) ** 2).mean()

    params = dict(z=normal(0, 8 + width, width) * .1, wx=normal(1, 8, width) * .2, wh=normal(2, width, width) * .1,
                  b=np.zeros(width, np.float32), out=normal(3, width, 4) * .2)
    return with_adamw(loss), start(params), (normal(5, batch, length, 8), normal(6, batch, length, 4))


def mlp(batch=64, width=256, depth=3, dtype=np.float32):
    def loss(p, batch):
        x, y = batch
        for layer in p[:-1]:
            x = jax.nn.gelu(x.astype(dtype) @ layer["w"].astype(dtype) + layer["b"].astype(dtype), approximate=False)
        return ((x.astype(np.float32) @ p[-1]["w"] - y) ** 2).mean()

    params = [dict(w=normal(i, width, width) * .06, b=np.zeros(width, np.float32)) for i in range(depth)]
    params.append(dict(w=normal(9, width, 10) * .06, b=np.zeros(10, np.float32)))
    return with_adamw(loss), start(params), (normal(11, batch, width), normal(12, batch, 10))


def dropout_mlp():
    def loss(p, batch):
        x, y, key = batch
        h = jax.nn.relu(x @ p["a"])
        keep = jax.random.bernoulli(jax.random.wrap_key_data(key), 0.9, h.shape)
        return ((jnp.where(keep, h / 0.9, 0) @ p["b"] - y) ** 2).mean()
    params = dict(a=normal(0, 16, 32) * .2, b=normal(1, 32, 4) * .2)
    return with_adamw(loss), start(params), (normal(2, 8, 16), normal(3, 8, 4), np.array([1, 2], np.uint32))


MODELS = [("transformer", *transformer()), ("transformer_remat", *transformer(batch=2, length=16, width=32, remat=True)),
          ("cnn", *cnn()), ("rnn", *rnn()), ("mlp", *mlp()), ("mlp_bf16", *mlp(batch=8, width=32, dtype=jnp.bfloat16)),
          ("dropout", *dropout_mlp())]
