"""Programs of eight devices under JAX; prints what was right as JSON.

Collectives against NumPy, loops and branches in which devices meet, shardings in and out, donation, copies between
devices, callbacks; and a transformer trained in four ways, whose losses are printed as the bits they are."""
import json
import os
import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import AxisType, Mesh, NamedSharding, PartitionSpec as P

STEPS = int(sys.argv[1]) if len(sys.argv) > 1 else 5
found = {}


def same(name, got, want, tolerance=1e-5):
    got, want = np.asarray(got), np.asarray(want)
    found[name] = got.shape == want.shape and bool(np.allclose(got, want, tolerance, tolerance))


def holds(name, fact):
    found[name] = bool(fact)


devices = jax.devices()
n = len(devices)
holds("eight devices of one process", n == 8 and jax.process_count() == 1 and len({d.id for d in devices}) == 8)
line = jax.make_mesh((8,), ("i",), axis_types=(AxisType.Auto,))
grid = jax.make_mesh((4, 2), ("x", "y"), axis_types=(AxisType.Auto,) * 2)
rng = np.random.default_rng(0)
a = rng.standard_normal((8, 16, 6)).astype(np.float32)


def each(f, out=P("i"), ins=P("i"), **options):
    """f on every device, with one row of its argument."""
    return jax.jit(jax.shard_map(f, mesh=line, in_specs=ins, out_specs=out, check_vma=False, **options))


# ---- collectives ----
same("psum", each(lambda v: lax.psum(v, "i"))(a), np.broadcast_to(a.sum(0), a.shape))
same("pmax", each(lambda v: lax.pmax(v, "i"))(a), np.broadcast_to(a.max(0), a.shape))
same("pmin", each(lambda v: lax.pmin(v, "i"))(a), np.broadcast_to(a.min(0), a.shape))
same("pmean", each(lambda v: lax.pmean(v, "i"))(a), np.broadcast_to(a.mean(0), a.shape))
pairs = [[0, 1, 2, 3], [4, 5, 6, 7]]
want = np.concatenate([np.broadcast_to(a[:4].sum(0), (4, 16, 6)), np.broadcast_to(a[4:].sum(0), (4, 16, 6))])
same("psum in groups", each(lambda v: lax.psum(v, "i", axis_index_groups=pairs))(a), want)
same("psum of integers", each(lambda v: lax.psum(v, "i"))(np.arange(8)), np.full(8, 28))
same("all_gather", each(lambda v: lax.all_gather(v[0], "i"), out=P())(a), a)
same("all_gather tiled", each(lambda v: lax.all_gather(v, "i", axis=1, tiled=True), out=P())(a),
     np.concatenate(list(a[:, None]), 1))
same("psum_scatter", each(lambda v: lax.psum_scatter(v[0], "i", scatter_dimension=0, tiled=True), out=P("i"))(a), a.sum(0))
same("all_to_all", each(lambda v: lax.all_to_all(v[0], "i", 0, 0, tiled=True))(a),
     a.reshape(8, 8, 2, 6).transpose(1, 0, 2, 3).reshape(128, 6))
same("all_to_all over other dimensions", each(lambda v: lax.all_to_all(v, "i", 1, 2, tiled=True))(a),
     a.reshape(8, 8, 2, 6).transpose(1, 2, 0, 3).reshape(8, 2, 48))
ring = [(k, (k + 1) % 8) for k in range(8)]
same("ppermute", each(lambda v: lax.ppermute(v, "i", ring))(a), np.roll(a, 1, 0))
same("ppermute leaves zeros", each(lambda v: lax.ppermute(v, "i", [(0, 3)]))(a),
     np.stack([a[0] if k == 3 else np.zeros_like(a[0]) for k in range(8)]))
same("axis_index", each(lambda v: v * 0 + lax.axis_index("i"))(a), np.broadcast_to(np.arange(8.0)[:, None, None], a.shape))
b = rng.standard_normal((8, 16)).astype(np.float32)
two = jax.jit(jax.shard_map(lambda v: lax.psum(v, "x") * (1 + lax.axis_index("y")), mesh=grid, in_specs=P("x", "y"),
                            out_specs=P(None, "y")))
want = b.reshape(4, 2, 16).sum(0)
want[:, 8:] *= 2
same("one of two axes", two(b), want)

# ---- meeting in loops and branches ----
same("a loop with a collective", each(lambda v: lax.fori_loop(0, 3, lambda k, c: lax.psum(c, "i") / 8 + k, v))(a),
     np.broadcast_to(a.mean(0) + 3, a.shape))
same("scan with a collective", each(lambda v: lax.scan(lambda c, k: (c + k, lax.psum(c, "i")), v[0], jnp.arange(3.0))[1][2],
                                    out=P())(a), a.sum(0) + 8)


def until_own_limit(v):
    """Groups of four turn a different number of times."""
    limit = 1 + lax.axis_index("i") // 4
    return lax.while_loop(lambda s: s[0] < limit, lambda s: (s[0] + 1, lax.psum(s[1], "i", axis_index_groups=pairs)), (0, v))[1]


want = np.concatenate([np.broadcast_to(a[:4].sum(0), (4, 16, 6)), np.broadcast_to(4 * a[4:].sum(0), (4, 16, 6))])
same("a loop that some leave before others", each(until_own_limit)(a), want)
same("a branch with a collective", each(lambda v: lax.cond(v.shape[0] == 1, lambda u: lax.psum(u, "i"), lambda u: u, v))(a),
     np.broadcast_to(a.sum(0), a.shape))
same("branches by device", each(lambda v: lax.switch(lax.axis_index("i") % 3, [lambda u: u, lambda u: -u, lambda u: 2 * u], v))(a),
     a * np.array([1, -1, 2, 1, -1, 2, 1, -1], np.float32)[:, None, None])
want = np.concatenate([np.broadcast_to(a[:4].sum(0), (4, 16, 6)), a[4:]])
same("groups that take different branches",
     each(lambda v: lax.cond(lax.axis_index("i") < 4, lambda u: lax.psum(u, "i", axis_index_groups=pairs), lambda u: u, v))(a), want)
same("shard_map in scan", jax.jit(lambda v: lax.scan(lambda c, _: (each(lambda u: lax.pmean(u, "i"))(c) + 1, None), v, None,
                                                     length=3)[0])(a), np.broadcast_to(a.mean(0) + 3, a.shape))
grad = jax.grad(lambda v: (each(lambda u: lax.psum(jnp.sin(u), "i"), out=P())(v) ** 2).sum())(a)
same("a gradient", grad, 2 * np.sin(a).sum(0) * np.cos(a), 1e-4)
part = jax.jit(jax.shard_map(lambda v: lax.psum(v, "x"), mesh=grid, in_specs=P("x"), out_specs=P(), axis_names={"x"}))
same("one axis by hand, one by the compiler", part(jax.device_put(b, NamedSharding(grid, P("x", "y")))),
     b.reshape(4, 2, 16).sum(0))
same("pmap", jax.pmap(lambda v: lax.psum(v, "r") + lax.axis_index("r"), axis_name="r")(a),
     a.sum(0) + np.arange(8.0)[:, None, None])

# ---- shardings ----
where = NamedSharding(grid, P("x", "y"))
s = jax.device_put(b, where)
holds("shards", all(np.array_equal(x.data, b[x.index]) and x.data.shape == (2, 8) for x in s.addressable_shards))
same("made by a callback", jax.make_array_from_callback(b.shape, where, lambda k: b[k]), b)
same("global", jax.jit(lambda v: jnp.sin(v) @ v.T)(s), np.sin(b) @ b.T)
holds("an open result keeps its operand's tiles", jax.jit(jnp.sin)(s).sharding.is_equivalent_to(where, 2))
moved = jax.jit(lambda v: v * 2, out_shardings=NamedSharding(grid, P("y")))(s)
holds("a result goes where it is sent", moved.sharding.is_equivalent_to(NamedSharding(grid, P("y")), 2))
same("and is the same", moved, b * 2)
swapped = Mesh(np.array(devices)[::-1].reshape(2, 4), ("p", "q"))
t = jax.device_put(b, NamedSharding(swapped, P("q", "p")))
same("a mesh in another order", jax.jit(lambda v: v + 1)(t), b + 1)
same("from one mesh to another", jax.device_put(s, NamedSharding(swapped, P("q"))), b)
d = jax.jit(lambda v: v + 1, donate_argnums=0)(jax.device_put(b, where))
same("donated", d, b + 1)
gone = jax.device_put(b, where)
jax.jit(lambda v: v * 3, donate_argnums=0)(gone).block_until_ready()
holds("a donated array is gone", gone.is_deleted())
one = jax.device_put(b, devices[3])
holds("one device", (one + 1).devices() == {devices[3]})
same("to another device", jax.device_put(one + 1, devices[6]), b + 1)
if devices[7].memory_stats():  # XLA's CPU has none
    before = devices[7].memory_stats()["bytes_in_use"]
    kept = jax.device_put(np.zeros(1 << 20, np.float32), devices[7])
    kept.block_until_ready()
    holds("memory is counted by device", devices[7].memory_stats()["bytes_in_use"] - before == 4 << 20)
chain = jax.device_put(b, devices[0])
for k in range(40):
    chain = jax.device_put(jnp.tanh(chain) + 1, devices[k % 8])
holds("a chain over all devices", np.isfinite(np.asarray(chain)).all())
seen = []
told = each(lambda v: jax.pure_callback(lambda u: (seen.append(float(u[0, 0, 0])), u * 2)[1],
                                        jax.ShapeDtypeStruct((1, 16, 6), np.float32), v))(a)
same("callbacks of each device", told, a * 2)
holds("in the order of the devices", seen == [float(v) for v in a[:, 0, 0]])

# ---- a transformer ----
WIDTH, HEADS, TOKENS, LENGTH, BATCH = 32, 4, 64, 16, 16


def init(seed):
    k = iter(jax.random.split(jax.random.key(seed), 16))
    w = lambda *shape: jax.random.normal(next(k), shape) * 0.1
    block = lambda: {"qkv": w(WIDTH, 3, HEADS, WIDTH // HEADS), "o": w(HEADS, WIDTH // HEADS, WIDTH),
                     "up": w(WIDTH, 4 * WIDTH), "down": w(4 * WIDTH, WIDTH)}
    return {"embed": w(TOKENS, WIDTH), "blocks": [block(), block()]}


def norm(x):
    return (x - x.mean(-1, keepdims=True)) * lax.rsqrt(x.var(-1, keepdims=True) + 1e-5)


def loss_of(params, tokens):
    x = params["embed"][tokens[:, :-1]]
    mask = jnp.tril(jnp.ones((LENGTH, LENGTH), bool))
    for p in params["blocks"]:
        q, k, v = jnp.moveaxis(jnp.einsum("bld,dchk->bclhk", norm(x), p["qkv"]), 1, 0)
        scores = jnp.where(mask, jnp.einsum("bqhk,bshk->bhqs", q, k) * (WIDTH // HEADS) ** -0.5, -1e9)
        x = x + jnp.einsum("bhqs,bshk,hkd->bqd", jax.nn.softmax(scores), v, p["o"])
        x = x + jax.nn.gelu(norm(x) @ p["up"]) @ p["down"]
    logits = jax.nn.log_softmax(norm(x) @ params["embed"].T)
    return -jnp.take_along_axis(logits, tokens[:, 1:, None], -1).mean()


def update(params, grads):
    return jax.tree.map(lambda p, g: p - 0.5 * g, params, grads)


def step(params, tokens):
    loss, grads = jax.value_and_grad(loss_of)(params, tokens)
    return update(params, grads), loss


def by_hand(params, tokens):
    loss, grads = jax.value_and_grad(loss_of)(params, tokens)
    return update(params, lax.pmean(grads, "i")), lax.pmean(loss, "i")


def specs(kind):
    rows = lambda p: P("i") if p.shape[0] % 8 == 0 else P(None, "i") if p.ndim > 1 and p.shape[1] % 8 == 0 else P()
    if kind == "fully":
        return jax.tree.map(rows, jax.eval_shape(lambda: init(0)))
    if kind == "tensor":
        block = {"qkv": P(None, None, "y"), "o": P("y"), "up": P(None, "y"), "down": P("y")}
        return {"embed": P("y"), "blocks": [block, block]}
    return jax.tree.map(lambda _: P(), jax.eval_shape(lambda: init(0)))


def train(kind):
    mesh, data = (grid, P("x")) if kind == "tensor" else (line, P("i"))
    params, run = init(1), jax.jit(step, donate_argnums=0)
    if kind == "by hand":
        run = jax.jit(jax.shard_map(by_hand, mesh=line, in_specs=(P(), P("i")), out_specs=P(), check_vma=False),
                      donate_argnums=0)
    if kind != "one device":
        params = jax.device_put(params, jax.tree.map(lambda s: NamedSharding(mesh, s), specs(kind)))
    losses = []
    for k in range(STEPS):
        tokens = np.random.default_rng(k).integers(0, TOKENS, (BATCH, LENGTH + 1), np.int32)
        if kind != "one device":
            tokens = jax.device_put(tokens, NamedSharding(mesh, data))
        params, loss = run(params, tokens)
        losses.append(np.float32(loss).tobytes().hex())
    return losses


losses = {kind: train(kind) for kind in ("one device", "data", "tensor", "fully", "by hand")}
json.dump({"found": found, "losses": losses}, sys.stdout)
