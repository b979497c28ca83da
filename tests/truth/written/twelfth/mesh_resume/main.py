import os

os.environ.setdefault("XLA_FLAGS", "--xla_force_host_platform_device_count=4")

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

from runner import Runner
from vault import Vault

RULES = {"inp": P(None, "model"), "out": P("model", None)}


def build_mesh():
    devs = np.array(jax.devices())
    cols = 2 if len(devs) % 2 == 0 else 1
    return Mesh(devs.reshape(-1, cols), ("data", "model"))


def fresh_state(mesh, seed=0):
    r = np.random.default_rng(seed)
    host = {"inp": r.normal(size=(8, 16)).astype(np.float32) * 0.3, "out": r.normal(size=(16, 2)).astype(np.float32) * 0.3}
    params = {k: jax.device_put(v, NamedSharding(mesh, RULES[k])) for k, v in host.items()}
    mom = {k: jax.device_put(np.zeros_like(v), NamedSharding(mesh, RULES[k])) for k, v in host.items()}
    return {"params": params, "mom": mom, "lr": jax.device_put(np.float32(0.05), NamedSharding(mesh, P()))}


def feed(mesh, n, seed=1):
    rng = np.random.default_rng(seed)
    spec = NamedSharding(mesh, P("data"))
    for i in range(n):
        x = rng.normal(size=(16, 8)).astype(np.float32)
        y = np.stack([x.sum(1), x[:, 0]], 1) * (40.0 if i == 9 else 1.0)
        yield jax.device_put((x, y.astype(np.float32)), spec)


def main(iters=13):
    mesh = build_mesh()
    runner, vault = Runner(), Vault(mesh, every=5)
    state = fresh_state(mesh)
    vault.store(state)
    for it, batch in enumerate(feed(mesh, iters)):
        new, loss = runner(state, batch, keep_input=vault.wants(it))
        vault.offer(it, state)
        state = new
        if float(loss) > 500:
            state = vault.reload()
            print(it, "rolled back")
        vault.settle()
        print(it, f"loss {float(loss):.4f} lr {float(state['lr']):.4f}")


if __name__ == "__main__":
    main()
