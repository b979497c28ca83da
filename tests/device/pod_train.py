"""A jax.distributed job of two processes that share one accelerator.

usage: pod_train.py WAY LIMIT OUT.json     starts both processes, ends them after LIMIT seconds, and writes what they printed

WAY: clean; constant (the second process has another block size; the line is marked with `here: constant`). Each device trains
its own member of an ensemble: NCCL refuses two ranks on one GPU, so the program of both devices has no collective. The variable
PACE is a pause after each step, in seconds."""

import json
import os
import socket
import subprocess
import sys
import time

RANKS, STEPS, DIM = 2, 40, 256


def rank(number, port, way):
    import jax
    import jax.numpy as jnp
    import numpy as np
    from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

    jax.distributed.initialize(f"localhost:{port}", RANKS, number)
    members = NamedSharding(Mesh(np.array(jax.devices()), ("member",)), P("member"))
    block = 0.5 if way == "constant" and number == RANKS - 1 else 0.25

    def train_step(weights, batch):
        def loss(w):
            x = jnp.tanh(batch @ w) * block  # here: constant
            return jnp.mean(x * x, (1, 2)).sum(), jnp.mean(x * x, (1, 2))
        (_, value), gradient = jax.value_and_grad(loss, has_aux=True)(weights)
        return weights - 0.1 * gradient, value

    step = jax.jit(jax.shard_map(train_step, mesh=members.mesh, in_specs=P("member"), out_specs=P("member")))
    seeded = np.random.default_rng(number)
    shape = (len(jax.local_devices()), DIM, DIM)

    def own(scale):
        return jax.make_array_from_process_local_data(members, (seeded.standard_normal(shape) * scale).astype(np.float32))

    weights, losses = own(0.05), []
    for _ in range(STEPS):
        weights, value = step(weights, own(1.0))
        losses.append(float(np.asarray(value.addressable_shards[0].data)[0]).hex())
        time.sleep(float(os.environ.get("PACE", "0")))
    device = jax.local_devices()[0]
    print(json.dumps({"rank": number, "device": device.device_kind, "devices": len(jax.devices()), "jax": jax.__version__,
                      "losses": losses}), flush=True)
    jax.distributed.shutdown()


def launch(way, limit, out):
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = str(s.getsockname()[1])
    ranks = [subprocess.Popen([sys.executable, __file__, "rank", str(r), port, way], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True) for r in range(RANKS)]
    end = time.monotonic() + limit
    while time.monotonic() < end and any(p.poll() is None for p in ranks):
        time.sleep(0.1)
    ended = [p.poll() for p in ranks]  # None: it had to be killed
    for p in ranks:
        if p.poll() is None:
            p.kill()
    said = [p.communicate() for p in ranks]
    with open(out, "w") as f:
        json.dump([{"code": code, "out": o, "err": e} for code, (o, e) in zip(ended, said)], f)


if __name__ == "__main__":
    if sys.argv[1] == "rank":
        rank(int(sys.argv[2]), sys.argv[3], sys.argv[4])
    else:
        launch(sys.argv[1], float(sys.argv[2]), sys.argv[3])
