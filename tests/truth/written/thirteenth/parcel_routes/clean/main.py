import jax
import jax.numpy as jnp
import optax
from flax.training.train_state import TrainState

from manifest import calendar
from model import RouteNet, update
from stages import Stager

PLAN = {0: ("head",), 4: ("head", "mixer"), 8: ("head", "mixer", "embed")}

net = RouteNet()
params = jax.jit(net.init)(jax.random.key(0), jnp.zeros((8, 10, 2)), jnp.zeros((8, 10, 2)), jnp.float32(1))["params"]
stager = Stager(PLAN)
state = TrainState.create(apply_fn=net.apply, params=params, tx=optax.adam(1e-2))
state = state.replace(step=jnp.int32(0))
for day, depot, sheet in calendar(13, seed=6):
    gates = stager(day, params)
    state, mae = update(state, sheet, gates)
    print(f"day {day:2d} {depot:9s} mae {float(mae):.4f} open {len(stager.open_)}")
