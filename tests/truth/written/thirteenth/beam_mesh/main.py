import os

os.environ["XLA_FLAGS"] = os.environ.get("XLA_FLAGS", "") + " --xla_force_host_platform_device_count=4"

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

from dishes import Telescope
from beam import adapt, start
from upkeep import Upkeep


def main():
    mesh = Mesh(np.array(jax.devices("cpu")[:4]), ("dev",))
    telescope = Telescope(mesh, seed=2)
    upkeep = Upkeep(mesh, every=7)
    weights = jax.device_put(start(jax.random.key(0)), NamedSharding(mesh, P()))
    for step, (kind, snap, want) in enumerate(telescope.blocks(16)):
        weights, cost = adapt(weights, snap, want, np.float32(0.2 * 0.97 ** step))
        weights = upkeep(step, weights)
        print(f"{step:2d} {kind:5s} cost {float(cost):.4f} upkeep {upkeep.done}")


if __name__ == "__main__":
    main()
