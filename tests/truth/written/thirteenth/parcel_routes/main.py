import jax
import jax.numpy as jnp
from flax.training.train_state import TrainState

from manifest import calendar
from model import RouteNet, update
from stages import Stager, optimiser

PLAN = {0: ("head",), 4: ("head", "mixer"), 8: ("head", "mixer", "embed")}

net = RouteNet()
params = jax.jit(net.init)(jax.random.key(0), jnp.zeros((8, 10, 2)), jnp.zeros((8, 10, 1)), jnp.float32(1))["params"]
stager = Stager(PLAN)
state = TrainState.create(apply_fn=net.apply, params=params, tx=optimiser(PLAN[0]))
state = state.replace(step=jnp.int32(0))
for day, depot, sheet in calendar(13, seed=6):
    state = stager(day, state)
    state, mae = update(state, sheet)
    print(f"day {day:2d} {depot:9s} mae {float(mae):.4f} open {len(stager.open_)}")
