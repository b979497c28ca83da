"""A program whose memory grows with --batch, trained on one device; or compiled by hand with libtpu.

usage: flip.py --batch N [--by-hand]     --by-hand exits 1 when libtpu refuses it for its memory"""
import argparse
import os
import sys

parser = argparse.ArgumentParser()
parser.add_argument("--batch", type=int, default=int(os.environ.get("BATCH", "1024")))
parser.add_argument("--by-hand", action="store_true")
args = parser.parse_args()
if args.by_hand:
    os.environ.update(JAX_PLATFORMS="cpu", TPU_SKIP_MDS_QUERY="1", TPU_WORKER_HOSTNAMES="localhost",
                      TPU_ACCELERATOR_TYPE="v6e-1", ALLOW_MULTIPLE_LIBTPU_LOAD="1")
import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402

WIDTH = 8192


def loss_of(w, x):
    return jnp.sum(jnp.tanh(jnp.tanh(x @ w) @ w))


@jax.jit
def step(w, x):
    return w - 1e-3 * jax.grad(loss_of)(w, x)


if args.by_hand:
    from jax.experimental import topologies
    device = topologies.get_topology_desc(platform="tpu", topology_name="v6e:1x1", chips_per_host_bounds=[1, 1, 1]).devices[0]
    one = jax.sharding.SingleDeviceSharding(device)
    shapes = [jax.ShapeDtypeStruct(s, jnp.float32, sharding=one) for s in ((WIDTH, WIDTH), (args.batch, WIDTH))]
    try:
        memory = step.trace(*shapes).lower(lowering_platforms=("tpu",)).compile().memory_analysis()
        print(memory.argument_size_in_bytes + memory.temp_size_in_bytes)
    except jax.errors.JaxRuntimeError as error:
        print(str(error).splitlines()[0])
        sys.exit(1 if "RESOURCE_EXHAUSTED" in str(error) else 2)
else:
    w = jax.jit(lambda: jnp.zeros((WIDTH, WIDTH)))()
    x = jax.jit(lambda: jnp.zeros((args.batch, WIDTH)))()
    for _ in range(2):
        w = step(w, x)
    print(w.shape)
