import os

os.environ["XLA_FLAGS"] = os.environ.get("XLA_FLAGS", "") + " --xla_force_host_platform_device_count=4"

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

MESH = Mesh(np.array(jax.devices()).reshape(4), ("rows",))

POPULATIONS = NamedSharding(MESH, P(None, "rows", None))    # (9, ny, nx)
OBSTACLE = NamedSharding(MESH, P("rows", None))             # (ny, nx)
