from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from dynamics import rollout


class Weights(NamedTuple):
    pos: float = 4.0
    vel: float = 0.05
    effort: float = 0.02


class Plan(NamedTuple):
    controls: jax.Array
    cost: jax.Array
    slope: jax.Array


def objective(plan, x0, ref, w):
    xs = rollout(x0, plan)
    return (w.pos * jnp.sum((xs[:, :2] - ref) ** 2)
            + w.vel * jnp.sum(xs[:, 2:] ** 2)
            + w.effort * jnp.sum(plan ** 2))


@partial(jax.jit, static_argnums=(4,))
def refine(plan, x0, ref, w, sweeps):
    m = jnp.zeros_like(plan)
    for _ in range(sweeps):
        g = jax.grad(objective)(plan, x0, ref, w)
        m = 0.8 * m + g / (1e-6 + jnp.linalg.norm(g))
        plan = plan - 0.15 * m
    cost, g = jax.value_and_grad(objective)(plan, x0, ref, w)
    return Plan(plan, cost, jnp.linalg.norm(g))


class RecedingHorizon:
    def __init__(self, route, lookahead=9):
        self.route = np.asarray(route, np.float32)
        self.lookahead = lookahead
        self.controls = np.zeros((lookahead, 2), np.float32)
        self.effort = {"sweeps": 4, "calls": 0}
        self.history = []

    def window(self, k):
        return self.route[k:k + self.lookahead]

    def shifted(self, n):
        rest = self.controls[1:]
        tail = np.zeros((max(n - len(rest), 0), 2), np.float32)
        return np.concatenate([rest[:n], tail])

    def tune(self, plan):
        per_stage = float(plan.cost) / len(plan.controls)
        if per_stage > 1.2:
            self.effort["sweeps"] = min(self.effort["sweeps"] + 4, 12)
        elif per_stage < 0.4:
            self.effort["sweeps"] = max(self.effort["sweeps"] - 4, 4)

    def __call__(self, k, x):
        ref = self.window(k)
        plan = refine(self.shifted(len(ref)), x, ref, Weights(), self.effort["sweeps"])
        self.tune(plan)
        self.controls = np.asarray(plan.controls)
        self.effort["calls"] += 1
        self.history.append(float(plan.cost))
        return self.controls[0]
