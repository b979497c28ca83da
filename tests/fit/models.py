"""Training steps of three networks of Flax, sharded over all devices in three ways.

usage: models.py {llama|vit|moe} {data|tensor|fsdp} [--batch N] [--layers N] [--scan] [--remat] [--width N] [--steps N]
       models.py … --by-hand TOPOLOGY     compiles the training step with libtpu and prints what it says"""
import argparse
import functools
import json
import os
import re
import sys

if "--by-hand" in sys.argv:
    os.environ.update(JAX_PLATFORMS="cpu", TPU_SKIP_MDS_QUERY="1", TPU_WORKER_HOSTNAMES="localhost",
                      TPU_ACCELERATOR_TYPE="v6e-8", ALLOW_MULTIPLE_LIBTPU_LOAD="1")
import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

parser = argparse.ArgumentParser()
parser.add_argument("network", choices=["llama", "vit", "moe"])
parser.add_argument("how", choices=["data", "tensor", "fsdp"])
parser.add_argument("--batch", type=int, default=16)
parser.add_argument("--layers", type=int, default=1)
parser.add_argument("--scan", action="store_true", help="one loop over the layers, whose parameters are stacked")
parser.add_argument("--remat", action="store_true", help="compute each layer again in the backward pass")
parser.add_argument("--width", type=int, default=128)
parser.add_argument("--length", type=int, default=64)
parser.add_argument("--words", type=int, default=512)
parser.add_argument("--steps", type=int, default=2)
parser.add_argument("--by-hand", metavar="TOPOLOGY")
args = parser.parse_args()
HEADS, EXPERTS, IMAGE, PATCH, CLASSES = 4, 8, 32, 8, 16


class Attention(nn.Module):
    causal: bool

    @nn.compact
    def __call__(self, x):
        b, s, d = x.shape
        q, k, v = (nn.Dense(d, use_bias=False, name=n)(x).reshape(b, s, HEADS, d // HEADS) for n in "qkv")
        scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) / np.sqrt(d // HEADS)
        if self.causal:
            scores = jnp.where(jnp.tril(jnp.ones((s, s), bool)), scores, -1e9)
        out = jnp.einsum("bhqk,bkhd->bqhd", nn.softmax(scores), v)
        return nn.Dense(d, use_bias=False, name="o")(out.reshape(b, s, d))


class Gated(nn.Module):
    @nn.compact
    def __call__(self, x):
        d = x.shape[-1]
        up, gate = (nn.Dense(4 * d, use_bias=False, name=n)(x) for n in ("up", "gate"))
        return nn.Dense(d, use_bias=False, name="down")(nn.silu(gate) * up)


class Experts(nn.Module):
    """Each token goes to the best two of eight; every expert computes every token, weighted."""

    @nn.compact
    def __call__(self, x):
        d = x.shape[-1]
        gates = nn.softmax(nn.Dense(EXPERTS, use_bias=False, name="router")(x))
        best = jax.lax.top_k(gates, 2)[0][..., -1:]
        gates = jnp.where(gates >= best, gates, 0)
        up = self.param("up", nn.initializers.lecun_normal(), (EXPERTS, d, 2 * d))
        down = self.param("down", nn.initializers.lecun_normal(), (EXPERTS, 2 * d, d))
        hidden = nn.silu(jnp.einsum("bsd,edf->ebsf", x, up))
        return jnp.einsum("ebsf,efd,bse->bsd", hidden, down, gates)


class Block(nn.Module):
    causal: bool
    experts: bool

    @nn.compact
    def __call__(self, x):
        x = x + Attention(self.causal, name="attention")(nn.RMSNorm()(x))
        return x + (Experts(name="experts") if self.experts else Gated(name="mlp"))(nn.RMSNorm()(x))


class Network(nn.Module):
    @nn.compact
    def __call__(self, x):
        vit = args.network == "vit"
        if vit:
            x = nn.Conv(args.width, (PATCH, PATCH), strides=(PATCH, PATCH), name="patches")(x)
            x = x.reshape(x.shape[0], -1, args.width)
        else:
            x = nn.Embed(args.words, args.width, name="words")(x)
        block = nn.remat(Block) if args.remat else Block
        if args.scan:
            stack = nn.scan(lambda b, x, _: (b(x), None), variable_axes={"params": 0}, split_rngs={"params": True},
                            length=args.layers)
            x, _ = stack(block(not vit, args.network == "moe", name="blocks"), x, None)
        else:
            for i in range(args.layers):
                x = block(not vit, args.network == "moe", name=f"block{i}")(x)
        x = nn.RMSNorm()(x)
        return nn.Dense(CLASSES)(x.mean(1)) if vit else nn.Dense(args.words, use_bias=False, name="head")(x)


if args.by_hand:
    from jax.experimental import topologies
    devices = np.array(topologies.get_topology_desc(platform="tpu", topology_name=args.by_hand).devices)
else:
    devices = np.array(jax.devices())
mesh = Mesh(devices, ("x",))
network, optimizer = Network(), optax.adamw(1e-3)


def spec_of(leaf):
    """Tensor: the last dimension; fully sharded: the first one that can be divided; data: nothing."""
    order = {"data": [], "tensor": range(leaf.ndim)[::-1], "fsdp": range(leaf.ndim)}[args.how]
    for d in order:
        if leaf.ndim > 1 and leaf.shape[d] % len(devices) == 0:
            return P(*["x" if i == d else None for i in range(leaf.ndim)])
    return P()


def batch_of(rng):
    rows = P() if args.how == "tensor" else P("x")
    if args.network == "vit":
        x, y = rng.normal(size=(args.batch, IMAGE, IMAGE, 3)), rng.integers(0, CLASSES, args.batch)
        x, y = x.astype(np.float32), y.astype(np.int32)
    else:
        x = rng.integers(0, args.words, (args.batch, args.length)).astype(np.int32)
        y = np.roll(x, -1, 1)
    if args.by_hand:
        return tuple(jax.ShapeDtypeStruct(a.shape, a.dtype, sharding=NamedSharding(mesh, rows)) for a in (x, y))
    return tuple(jax.device_put(a, NamedSharding(mesh, rows)) for a in (x, y))


def loss_of(params, x, y):
    return optax.softmax_cross_entropy_with_integer_labels(network.apply(params, x), y).mean()


@functools.partial(jax.jit, donate_argnums=(0, 1))
def train_step(params, state, x, y):
    loss, grads = jax.value_and_grad(loss_of)(params, x, y)
    updates, state = optimizer.update(grads, state, params)
    return optax.apply_updates(params, updates), state, loss


def by_hand():
    """What libtpu says about the same step, without anything of Stet."""
    place = lambda s: jax.ShapeDtypeStruct(s.shape, s.dtype, sharding=NamedSharding(mesh, spec_of(s)))  # noqa: E731
    x, y = batch_of(rng)
    first = jax.ShapeDtypeStruct((1, *x.shape[1:]), x.dtype)
    params = jax.tree.map(place, jax.eval_shape(network.init, jax.random.key(0), first))
    state = jax.tree.map(place, jax.eval_shape(optimizer.init, params))
    compiled = train_step.trace(params, state, x, y).lower(lowering_platforms=("tpu",)).compile()
    memory, text = compiled.memory_analysis(), compiled.as_text()
    kinds = ("all-reduce", "all-gather", "reduce-scatter", "all-to-all", "collective-permute")
    found = {k: len(re.findall(rf" {k}(?:-start)?\(", text)) for k in kinds}
    print(json.dumps({
        "memory": {"arguments": memory.argument_size_in_bytes, "outputs": memory.output_size_in_bytes,
                   "aliased": memory.alias_size_in_bytes, "temporaries": memory.temp_size_in_bytes,
                   "code": memory.generated_code_size_in_bytes},
        "collectives": {k: n for k, n in found.items() if n},
        "flops": compiled.cost_analysis()["flops"]}))


def train():
    x, y = batch_of(rng)
    shapes = jax.eval_shape(network.init, jax.random.key(0), x[:1])
    place = lambda tree: jax.tree.map(lambda s: NamedSharding(mesh, spec_of(s)), tree)  # noqa: E731
    params = jax.jit(network.init, out_shardings=place(shapes))(jax.random.key(0), x[:1])
    state = jax.jit(optimizer.init, out_shardings=place(jax.eval_shape(optimizer.init, shapes)))(params)
    for _ in range(args.steps):
        x, y = batch_of(rng)
        params, state, loss = train_step(params, state, x, y)
    print("loss", loss)


rng = np.random.default_rng(0)
if args.by_hand:
    by_hand()
else:
    train()
